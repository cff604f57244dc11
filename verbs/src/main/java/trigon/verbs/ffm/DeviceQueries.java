package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.Errno;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.generated.Verbs;
import trigon.verbs.ffm.generated.ibv_device_attr;
import trigon.verbs.ffm.generated.ibv_gid_entry;
import trigon.verbs.ffm.generated.ibv_port_attr;

/** Asks an open device for its attributes, and turns the answers into records. Thread-safe. */
final class DeviceQueries {

    private DeviceQueries() {}

    /** {@code ibv_query_device(3)}. */
    static DeviceAttributes deviceAttributes(long context, String deviceName) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = queryDevice(context, deviceName, arena);
            return new DeviceAttributes(
                    Long.reverseBytes(ibv_device_attr.node_guid(attributes)),
                    Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(attributes)),
                    ibv_device_attr.max_qp_wr(attributes),
                    ibv_device_attr.max_cqe(attributes),
                    ibv_device_attr.max_qp_rd_atom(attributes));
        }
    }

    /** {@code ibv_query_port(3)}. */
    static PortAttributes portAttributes(long context, String deviceName, int port) {
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
                            Byte.toUnsignedInt(ibv_port_attr.active_speed(attributes))));
        }
    }

    /**
     * {@code ibv_query_gid_table(3)}, for one port. That call gets the network interface of an entry from the kernel
     * even where sysfs does not name it, as for rxe on a veth.
     */
    static List<GidEntry> gidTable(long context, String deviceName, int port) {
        try (Arena arena = Arena.ofConfined()) {
            long capacity = gidTableLength(context, deviceName, port, arena);
            MemorySegment entries = ibv_gid_entry.allocateArray(capacity, arena);
            long count = DeviceCalls.queryGidTable(context, entries, capacity, ibv_gid_entry.sizeof());
            if (count < 0) {
                throw new VerbsException("ibv_query_gid_table", deviceName, ReturnCode.toErrno((int) count), "");
            }
            List<GidEntry> result = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                MemorySegment entry = ibv_gid_entry.asSlice(entries, i);
                Gid gid = gid(entry);
                if (ibv_gid_entry.port_num(entry) == port && !gid.isZero()) {
                    result.add(new GidEntry(
                            ibv_gid_entry.gid_index(entry),
                            gid,
                            gidType(ibv_gid_entry.gid_type(entry)),
                            ibv_gid_entry.ndev_ifindex(entry)));
                }
            }
            return List.copyOf(result);
        }
    }

    /** The greatest number of entries of all ports together: the query returns those of all. Refuses a wrong port. */
    private static long gidTableLength(long context, String deviceName, int wantedPort, Arena arena) {
        long length = ibv_port_attr.gid_tbl_len(queryPort(context, deviceName, wantedPort, arena));
        int ports = Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(queryDevice(context, deviceName, arena)));
        for (int port = 1; port <= ports; port++) {
            if (port != wantedPort) {
                length += ibv_port_attr.gid_tbl_len(queryPort(context, deviceName, port, arena));
            }
        }
        return length;
    }

    private static MemorySegment queryDevice(long context, String deviceName, Arena arena) {
        MemorySegment attributes = ibv_device_attr.allocate(arena);
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

    private static Gid gid(MemorySegment entry) {
        return Gid.ofBytes(ibv_gid_entry.gid(entry).toArray(ValueLayout.JAVA_BYTE));
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
