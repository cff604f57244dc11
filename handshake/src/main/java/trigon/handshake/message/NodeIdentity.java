package trigon.handshake.message;

import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/**
 * A process's identity to its peers.
 *
 * @param name the node's name, for logs; 1 to 255 bytes of UTF-8 without control characters
 * @param index its index in the cluster's configuration, 0 to 65534; empty where there is none
 * @param configFingerprint hash of the settings that all nodes should share
 * @param tuner version of the built-in tuner's rules, 1 to 255; 0: it is off
 * @param policy the first 32 bits of the SHA-256 of the policy that decides for the communicator of the connection; 0:
 *     NCCL decides, or the connection has none
 * @param failover whether its ends of connections can go on over other paths
 */
public record NodeIdentity(
        String name, OptionalInt index, int configFingerprint, int tuner, int policy, boolean failover) {

    /** The longest name, in bytes of UTF-8. */
    public static final int MAX_NAME_BYTES = 255;

    private static final int MAX_TUNER = 0xFF;

    /** The index on the wire where there is none. */
    static final int NO_INDEX = 0xFFFF;

    public NodeIdentity {
        requireName(name);
        requireIndex(index);
        if (tuner < 0 || tuner > MAX_TUNER) {
            throw new IllegalArgumentException("a tuner's version is in 0.." + MAX_TUNER + ", not " + tuner);
        }
    }

    static void requireName(String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    "a node's name has 1 to " + MAX_NAME_BYTES + " bytes of UTF-8, not " + bytes);
        }
        if (name.codePoints().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("a node's name has no control characters");
        }
    }

    /** The same at a connection of a communicator for which that policy decides. */
    public NodeIdentity decidingBy(int other) {
        return new NodeIdentity(name, index, configFingerprint, tuner, other, failover);
    }

    static void requireIndex(OptionalInt index) {
        if (index.isPresent() && (index.getAsInt() < 0 || index.getAsInt() >= NO_INDEX)) {
            throw new IllegalArgumentException("node index " + index.getAsInt() + " is not in 0.." + (NO_INDEX - 1));
        }
    }

    static int toWire(OptionalInt index) {
        return index.orElse(NO_INDEX);
    }

    static OptionalInt indexOfWire(int value) {
        return value == NO_INDEX ? OptionalInt.empty() : OptionalInt.of(value);
    }

    /** As in a log: {@code node-a (node 0, config 1a2b3c4d)}. */
    @Override
    public String toString() {
        String number = index.isPresent() ? "node " + index.getAsInt() : "no node index";
        return "%s (%s, config %08x)".formatted(name, number, configFingerprint);
    }
}
