/**
 * The listening side: its sockets, the connections that are waited for, and those that come in, from whomever it is.
 *
 * <p>{@link trigon.handshake.listen.HandshakeListeners} is called from any thread. All else runs on the event loop, but
 * for the table of registrations.
 */
@NullMarked
package trigon.handshake.listen;

import org.jspecify.annotations.NullMarked;
