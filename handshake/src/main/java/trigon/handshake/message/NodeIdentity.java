package trigon.handshake.message;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/**
 * A process's identity to its peers.
 *
 * @param name the node's name, for logs; 1 to 255 bytes of UTF-8 without control characters
 * @param index its index in the cluster's configuration, 0 to 65534; empty where there is none
 * @param configFingerprint hash of the settings that all nodes should share
 * @param decider by what its ranks decide on collectives
 * @param devices that the settings have NCCL see, 1 to 255
 * @param failover whether its ends of connections can go on over other paths
 */
public record NodeIdentity(
        String name, OptionalInt index, int configFingerprint, Decider decider, int devices, boolean failover) {

    /** The longest name, in bytes of UTF-8. */
    public static final int MAX_NAME_BYTES = 255;

    private static final int MAX_DEVICES = 255;

    private static final int FAILOVER = 1;
    private static final int HAS_POLICY = 2;

    /** The index on the wire where there is none. */
    static final int NO_INDEX = 0xFFFF;

    public NodeIdentity {
        requireName(name);
        requireIndex(index);
        if (devices < 1 || devices > MAX_DEVICES) {
            throw new IllegalArgumentException(devices + " devices are not 1.." + MAX_DEVICES);
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
    public NodeIdentity decidingBy(int policy) {
        Decider other = new Decider(decider.tuner(), decider.hasPolicy(), policy);
        return new NodeIdentity(name, index, configFingerprint, other, devices, failover);
    }

    /**
     * Writes all but the name, in network order: index (2), fingerprint (4), tuner (1), policy (4), devices (1) and
     * flags (1).
     */
    void writeAfterName(ByteBuffer to) {
        int flags = (failover ? FAILOVER : 0) | (decider.hasPolicy() ? HAS_POLICY : 0);
        to.putShort((short) toWire(index))
                .putInt(configFingerprint)
                .put((byte) decider.tuner())
                .putInt(decider.policy())
                .put((byte) devices)
                .put((byte) flags);
    }

    /**
     * Reads what {@link #writeAfterName} has written.
     *
     * @throws IllegalArgumentException if nobody writes that
     * @throws java.nio.BufferUnderflowException if it is cut short
     */
    static NodeIdentity readAfterName(String name, ByteBuffer from) {
        OptionalInt index = indexOfWire(Short.toUnsignedInt(from.getShort()));
        int fingerprint = from.getInt();
        int tuner = Byte.toUnsignedInt(from.get());
        int policy = from.getInt();
        int devices = Byte.toUnsignedInt(from.get());
        int flags = from.get();
        if ((flags & ~(FAILOVER | HAS_POLICY)) != 0) {
            throw new IllegalArgumentException("its node's flags are " + Byte.toUnsignedInt((byte) flags));
        }
        Decider decider = new Decider(tuner, (flags & HAS_POLICY) != 0, policy);
        return new NodeIdentity(name, index, fingerprint, decider, devices, (flags & FAILOVER) != 0);
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
