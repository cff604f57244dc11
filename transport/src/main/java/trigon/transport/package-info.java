/**
 * NCCL's network calls, made of routing, handshake and queue pairs: comms, requests, memory registration.
 *
 * <p>{@link trigon.transport.NetPlugin} is what the native entry forwards NCCL's calls to.
 */
@NullMarked
package trigon.transport;

import org.jspecify.annotations.NullMarked;
