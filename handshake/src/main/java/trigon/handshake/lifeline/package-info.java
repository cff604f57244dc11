/**
 * The TCP connection of a handshake, which stays open after it as the lifeline; the one thread that serves all of them,
 * and the beat at which each says that it lives.
 *
 * <p>All of it belongs to that thread, the event loop's, but for what says otherwise.
 */
@NullMarked
package trigon.handshake.lifeline;

import org.jspecify.annotations.NullMarked;
