package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import trigon.system.Errno;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.DeviceCalls;
import trigon.verbs.ffm.call.ReturnCode;
import trigon.verbs.ffm.generated.Verbs;
import trigon.verbs.ffm.generated.ibv_port_attr;
import trigon.verbs.ffm.struct.DeviceLayout;

/** Asks an open device for its attributes, and turns the answers into records. Thread-safe. */
final class DeviceQueries {

    private DeviceQueries() {}

    /** {@code ibv_query_device(3)}. */
    static DeviceAttributes deviceAttributes(long context, String deviceName) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = queryDevice(context, deviceName, arena);
            return new DeviceAttributes(
                    Long.reverseBytes(attributes.get(ValueLayout.JAVA_LONG, DeviceLayout.ATTRIBUTES_NODE_GUID)),
                    portCount(attributes),
                    attributes.get(ValueLayout.JAVA_INT, DeviceLayout.ATTRIBUTES_MAX_QP_WR),
                    attributes.get(ValueLayout.JAVA_INT, DeviceLayout.ATTRIBUTES_MAX_CQE),
                    attributes.get(ValueLayout.JAVA_INT, DeviceLayout.ATTRIBUTES_MAX_QP_RD_ATOM));
        }
    }

    /** {@code ibv_query_port(3)}, and sysfs for a speed that it cannot say. */
    static PortAttributes portAttributes(long context, String deviceName, int port, Sysfs sysfs) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = queryPort(context, deviceName, port, arena);
            return new PortAttributes(
                    portState(ibv_port_attr.state(attributes)),
                    activeMtu(ibv_port_attr.active_mtu(attributes)),
                    Integer.toUnsignedLong(ibv_port_attr.max_msg_sz(attributes)),
                    Short.toUnsignedInt(ibv_port_attr.lid(attributes)),
                    linkLayer(ibv_port_attr.link_layer(attributes)),
                    LinkSpeed.megabitsPerSecond(
                            Byte.toUnsignedInt(ibv_port_attr.active_width(attributes)),
                            Byte.toUnsignedInt(ibv_port_attr.active_speed(attributes)),
                            () -> sysfs.megabitsPerSecond(deviceName, port)));
        }
    }

    /**
     * {@code ibv_query_gid_table(3)}, for one port. That call gets the network interface of an entry from the kernel
     * even where sysfs does not name it, as for rxe on a veth. Libraries without it read sysfs themselves.
     */
    static List<GidEntry> gidTable(long context, String deviceName, int port, Sysfs sysfs) {
        if (!DeviceCalls.canQueryGidTable()) {
            return sysfs.gidTable(deviceName, port);
        }
        try (Arena arena = Arena.ofConfined()) {
            long capacity = gidTableLength(context, deviceName, port, arena);
            MemorySegment entries = arena.allocate(capacity * DeviceLayout.GID_ENTRY_SIZE, Long.BYTES);
            long count = DeviceCalls.queryGidTable(context, entries, capacity, DeviceLayout.GID_ENTRY_SIZE);
            if (count < 0) {
                throw new VerbsException("ibv_query_gid_table", deviceName, ReturnCode.toErrno((int) count), "");
            }
            List<GidEntry> result = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                MemorySegment entry = entries.asSlice(i * DeviceLayout.GID_ENTRY_SIZE, DeviceLayout.GID_ENTRY_SIZE);
                Gid gid = gid(entry);
                if (entry.get(ValueLayout.JAVA_INT, DeviceLayout.GID_ENTRY_PORT_NUM) == port && !gid.isZero()) {
                    result.add(new GidEntry(
                            entry.get(ValueLayout.JAVA_INT, DeviceLayout.GID_ENTRY_GID_INDEX),
                            gid,
                            gidType(entry.get(ValueLayout.JAVA_INT, DeviceLayout.GID_ENTRY_GID_TYPE)),
                            entry.get(ValueLayout.JAVA_INT, DeviceLayout.GID_ENTRY_NDEV_IFINDEX)));
                }
            }
            return List.copyOf(result);
        }
    }

    /** {@link trigon.verbs.DeviceContext#partitionKeyIndex}. A table that cannot be read has it at its beginning. */
    static int partitionKeyIndex(long context, String deviceName, int port) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(ValueLayout.JAVA_SHORT);
            int length = Short.toUnsignedInt(ibv_port_attr.pkey_tbl_len(queryPort(context, deviceName, port, arena)));
            List<Integer> keys = new ArrayList<>();
            while (keys.size() < length && DeviceCalls.queryPartitionKey(context, port, keys.size(), key) == 0) {
                keys.add(Short.toUnsignedInt(Short.reverseBytes(key.get(ValueLayout.JAVA_SHORT, 0))));
            }
            return PartitionKeys.indexOfBest(keys)
                    .orElseThrow(() -> new VerbsException(
                            "ibv_query_pkey",
                            "%s port %d".formatted(deviceName, port),
                            Errno.ENOENT,
                            PartitionKeys.advice(keys)));
        }
    }

    /** The greatest number of entries of all ports together: the query returns those of all. Refuses a wrong port. */
    private static long gidTableLength(long context, String deviceName, int wantedPort, Arena arena) {
        long length = ibv_port_attr.gid_tbl_len(queryPort(context, deviceName, wantedPort, arena));
        int ports = portCount(queryDevice(context, deviceName, arena));
        for (int port = 1; port <= ports; port++) {
            if (port != wantedPort) {
                length += ibv_port_attr.gid_tbl_len(queryPort(context, deviceName, port, arena));
            }
        }
        return length;
    }

    private static MemorySegment queryDevice(long context, String deviceName, Arena arena) {
        MemorySegment attributes = arena.allocate(DeviceLayout.ATTRIBUTES_SIZE, Long.BYTES);
        int errno = DeviceCalls.queryDevice(context, attributes);
        if (errno != 0) {
            throw new VerbsException("ibv_query_device", deviceName, errno, "");
        }
        return attributes;
    }

    private static MemorySegment queryPort(long context, String deviceName, int port, Arena arena) {
        // an arena's memory is zeroed, which stands for the fields that the exported function does not fill
        MemorySegment attributes = ibv_port_attr.allocate(arena);
        // the number is 8 bits wide: a greater one would become another port's
        int errno = port >>> Byte.SIZE == 0 ? DeviceCalls.queryPort(context, port, attributes) : Errno.EINVAL;
        if (errno != 0) {
            throw new VerbsException("ibv_query_port", "%s port %d".formatted(deviceName, port), errno, "");
        }
        return attributes;
    }

    private static int portCount(MemorySegment deviceAttributes) {
        return Byte.toUnsignedInt(deviceAttributes.get(ValueLayout.JAVA_BYTE, DeviceLayout.ATTRIBUTES_PHYS_PORT_CNT));
    }

    private static Gid gid(MemorySegment entry) {
        return Gid.ofBytes(entry.asSlice(DeviceLayout.GID_ENTRY_GID, Gid.BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    private static GidEntry.Type gidType(int code) {
        if (code == Verbs.IBV_GID_TYPE_ROCE_V2()) {
            return GidEntry.Type.ROCE_V2;
        }
        return code == Verbs.IBV_GID_TYPE_ROCE_V1() ? GidEntry.Type.ROCE_V1 : GidEntry.Type.INFINIBAND;
    }

    /** ACTIVE_DEFER, a link in recovery, carries no data either. */
    private static PortState portState(int code) {
        if (code == Verbs.IBV_PORT_ACTIVE()) {
            return PortState.ACTIVE;
        }
        if (code == Verbs.IBV_PORT_ARMED()) {
            return PortState.ARMED;
        }
        return code == Verbs.IBV_PORT_INIT() ? PortState.INITIALIZING : PortState.DOWN;
    }

    /** A port that is down may report none: then the least, which every path carries. */
    private static Mtu activeMtu(int code) {
        boolean known = code >= Mtu.MTU_256.code() && code <= Mtu.MTU_4096.code();
        return known ? Mtu.ofCode(code) : Mtu.MTU_256;
    }

    /** "Unspecified" comes from drivers older than RoCE. */
    private static LinkLayer linkLayer(byte code) {
        return code == Verbs.IBV_LINK_LAYER_ETHERNET() ? LinkLayer.ETHERNET : LinkLayer.INFINIBAND;
    }
}
