package trigon.handshake.message;

import java.util.HexFormat;

/**
 * Names one connection to be: made by the listening side, carried in its {@link ListenHandle}, said by the connecting
 * side in its first message. Random, so that no two are alike, but no secret: that is the {@link ConnectionSecret}.
 *
 * @param value 64 random bits
 */
public record ConnectionId(long value) {

    /** A new one. Thread-safe. */
    public static ConnectionId random() {
        return new ConnectionId(OpaqueBytes.RANDOM.nextLong());
    }

    /** The name of the connecting side's end, where its process listens for the other one. */
    public ConnectionId ofConnectingSide() {
        return new ConnectionId(~value);
    }

    /** As in a log: 16 hexadecimal digits. */
    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(value);
    }
}
