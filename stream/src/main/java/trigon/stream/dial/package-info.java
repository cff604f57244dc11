/** Streams to peers: {@link trigon.stream.dial.Dialer} opens them, straight or through relays. */
@NullMarked
package trigon.stream.dial;

import org.jspecify.annotations.NullMarked;
