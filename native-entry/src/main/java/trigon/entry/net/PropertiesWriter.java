package trigon.entry.net;

import java.lang.foreign.Arena;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import trigon.nccl.DeviceProperties;
import trigon.system.Memory;

/**
 * Writes a device's properties where NCCL wants them. Thread-safe.
 *
 * <p>Every byte is written, since NCCL passes uninitialised memory; the strings are never freed, since NCCL keeps
 * pointers to them.
 */
final class PropertiesWriter {

    /** {@code NCCL_NET_DEVICE_HOST}, and the version that belongs to it: no offload. */
    static final int NET_DEVICE_HOST = 0;

    private static final int NET_DEVICE_INVALID_VERSION = 0;

    /** {@code NCCL_NET_ID_UNDEF}. */
    private static final short ID_UNDEFINED = -1;

    private static final long NULL = 0;

    private final ConcurrentMap<String, Long> strings = new ConcurrentHashMap<>();

    /**
     * Writes all fields that the version has.
     *
     * @param address the struct
     * @param device the device's number
     */
    void write(PropertiesLayout layout, long address, int device, DeviceProperties properties) {
        Memory.fill(address, layout.bytes(), (byte) 0);
        Memory.putLong(address + PropertiesLayout.NAME, immortal(properties.name()));
        Memory.putLong(
                address + PropertiesLayout.PCI_PATH,
                properties.pciPath().isEmpty() ? NULL : immortal(properties.pciPath()));
        Memory.putLong(address + PropertiesLayout.GUID, properties.guid());
        Memory.putInt(address + PropertiesLayout.PTR_SUPPORT, properties.pointerSupport());
        Memory.putInt(address + PropertiesLayout.REG_IS_GLOBAL, 0);
        Memory.putInt(address + layout.speed(), properties.speedMbps());
        Memory.putInt(address + layout.port(), properties.port());
        Memory.putFloat(address + layout.latency(), properties.latencyMicros());
        Memory.putInt(address + layout.maxComms(), properties.maxComms());
        Memory.putInt(address + layout.maxRecvs(), properties.maxReceives());
        Memory.putInt(address + layout.netDeviceType(), NET_DEVICE_HOST);
        Memory.putInt(address + layout.netDeviceVersion(), NET_DEVICE_INVALID_VERSION);
        if (layout.version() >= 9) {
            Memory.putInt(address + layout.forceFlush(), 0);
            Memory.putInt(address + layout.virtualDeviceCount(), 1);
            Memory.putInt(address + layout.virtualDevices(), device);
            Memory.putLong(address + layout.maxP2pBytes(), properties.maxMessageBytes());
            Memory.putLong(address + layout.maxCollBytes(), properties.maxMessageBytes());
        }
        if (layout.version() >= 11) {
            Memory.putInt(address + layout.maxMultiRequestSize(), 1);
        }
        if (layout.version() >= 12) {
            Memory.putShort(address + layout.railId(), ID_UNDEFINED);
            Memory.putShort(address + layout.planeId(), ID_UNDEFINED);
        }
    }

    /** The address of a C string that lives as long as the process. */
    private long immortal(String text) {
        return strings.computeIfAbsent(
                text, key -> Arena.global().allocateFrom(key).address());
    }
}
