/**
 * NCCL's network calls, made of routing, handshake and queue pairs.
 *
 * <p>Data goes down: {@code plugin} finds the session of a call, {@code session} keeps its requests, {@code protocol}
 * hands messages to {@code path}s. {@code connect} brings paths up, {@code failure} acts when they fail, {@code
 * metrics} counts.
 */
@NullMarked
package trigon.transport;

import org.jspecify.annotations.NullMarked;
