/**
 * The relay: TCP connections that come in with a route are passed on, byte by byte.
 *
 * <p>All of it is one thread's, {@code trigon-relay-0}, but for what {@link trigon.relay.Relay} says of its methods.
 */
@NullMarked
package trigon.relay;

import org.jspecify.annotations.NullMarked;
