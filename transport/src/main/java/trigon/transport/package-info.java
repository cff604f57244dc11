/**
 * NCCL's network calls, made of routing, handshake and queue pairs.
 *
 * <p>Data goes down: {@code plugin} finds the session of a call, {@code session} keeps its requests, {@code protocol}
 * hands messages to {@code path}s. {@code connect} brings paths up. When they fail, {@code failover} takes a session to
 * other paths, and {@code failure} acts when none is left. {@code metrics} counts.
 */
@NullMarked
package trigon.transport;

import org.jspecify.annotations.NullMarked;
