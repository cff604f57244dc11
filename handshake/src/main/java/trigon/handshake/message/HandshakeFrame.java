package trigon.handshake.message;

/**
 * A message as it came, or as it goes.
 *
 * @param message what it says
 * @param bytes the whole frame, its proof at the end where the message has one; see {@code HandshakeCodec}
 */
@SuppressWarnings("ArrayRecordComponent") // the bytes are whose they are, and frames are not compared
public record HandshakeFrame(HandshakeMessage message, byte[] bytes) {}
