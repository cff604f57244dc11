package trigon.entry.net;

/**
 * Offsets of the fields of {@code ncclNetProperties_vN_t}. Version 10 has version 9's layout.
 *
 * <p>The fields keep their order: each version inserts some, and what is after moves.
 */
enum PropertiesLayout {
    V8(8, 28, 0),
    V9(9, 32, 4),
    V11(11, 32, 4),
    V12(12, 32, 8);

    /** In place of an offset: the version has no such field. */
    static final int ABSENT = -1;

    static final int NAME = 0;
    static final int PCI_PATH = 8;
    static final int GUID = 16;
    static final int PTR_SUPPORT = 24;
    static final int REG_IS_GLOBAL = 28;

    private static final int INT = 4;
    private static final int LONG = 8;
    private static final int SHORT = 2;

    private final int version;
    private final int lastOfHead;
    private final int virtualDeviceSlots;

    /**
     * A version's layout.
     *
     * @param lastOfHead offset of the field before {@code speed}
     * @param virtualDeviceSlots length of {@code vProps.devs}; 0 where there is no {@code vProps} nor what follows it
     */
    PropertiesLayout(int version, int lastOfHead, int virtualDeviceSlots) {
        this.version = version;
        this.lastOfHead = lastOfHead;
        this.virtualDeviceSlots = virtualDeviceSlots;
    }

    /** The layout that an API version uses. */
    static PropertiesLayout of(int version) {
        return switch (version) {
            case 8 -> V8;
            case 9, 10 -> V9;
            case 11 -> V11;
            case 12 -> V12;
            default -> throw new IllegalArgumentException("no properties of API version %d".formatted(version));
        };
    }

    int version() {
        return version;
    }

    int virtualDeviceSlots() {
        return virtualDeviceSlots;
    }

    int bytes() {
        int end = switch (this) {
            case V8 -> netDeviceVersion() + INT;
            case V9 -> maxCollBytes() + LONG;
            case V11 -> maxMultiRequestSize() + INT;
            case V12 -> planeId() + SHORT;
        };
        return Math.ceilDiv(end, LONG) * LONG;
    }

    int forceFlush() {
        return this == V8 ? ABSENT : lastOfHead;
    }

    int speed() {
        return lastOfHead + INT;
    }

    int port() {
        return speed() + INT;
    }

    int latency() {
        return port() + INT;
    }

    int maxComms() {
        return latency() + INT;
    }

    int maxRecvs() {
        return maxComms() + INT;
    }

    int netDeviceType() {
        return maxRecvs() + INT;
    }

    int netDeviceVersion() {
        return netDeviceType() + INT;
    }

    int virtualDeviceCount() {
        return this == V8 ? ABSENT : netDeviceVersion() + INT;
    }

    int virtualDevices() {
        return this == V8 ? ABSENT : virtualDeviceCount() + INT;
    }

    int maxP2pBytes() {
        if (this == V8) {
            return ABSENT;
        }
        int end = virtualDevices() + INT * virtualDeviceSlots;
        return Math.ceilDiv(end, LONG) * LONG;
    }

    int maxCollBytes() {
        return this == V8 ? ABSENT : maxP2pBytes() + LONG;
    }

    int maxMultiRequestSize() {
        return version < 11 ? ABSENT : maxCollBytes() + LONG;
    }

    int railId() {
        return version < 12 ? ABSENT : maxMultiRequestSize() + INT;
    }

    int planeId() {
        return version < 12 ? ABSENT : railId() + SHORT;
    }
}
