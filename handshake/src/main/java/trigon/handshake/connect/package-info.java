/**
 * The connecting side: dials a listener, has it prove itself, and offers a queue pair, or only asks whether it lives.
 *
 * <p>{@link trigon.handshake.connect.HandshakeClient} is called from any thread, and returns at once. All else runs on
 * the event loop.
 */
@NullMarked
package trigon.handshake.connect;

import org.jspecify.annotations.NullMarked;
