/**
 * The messages of the two ends of a handshake, as values, as bytes, and with proofs: messages, their codec, the handle
 * that NCCL carries, and who and what is named in them.
 *
 * <p>Values are immutable, and safe for all threads. {@link trigon.handshake.message.HandshakeProofs} and the decoder
 * of frames belong to one connection, and so to the event loop.
 */
@NullMarked
package trigon.handshake.message;

import org.jspecify.annotations.NullMarked;
