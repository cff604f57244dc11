package trigon.verbs.ffm.struct;

/**
 * Sizes of, and offsets in, {@code struct ibv_context}, {@code struct ibv_device_attr} and {@code struct ibv_gid_entry}
 * on 64-bit Linux. Constants, since to initialise the generated classes of structs that have arrays takes 30 ms, a
 * tenth of {@code init}; a test compares them with those.
 */
public final class DeviceLayout {

    public static final int CONTEXT_SIZE = 328;
    public static final int CONTEXT_POLL_CQ = 96;
    public static final int CONTEXT_POST_SEND = 208;
    public static final int CONTEXT_POST_RECV = 216;
    public static final int CONTEXT_ASYNC_FD = 268;

    public static final int ATTRIBUTES_SIZE = 232;
    public static final int ATTRIBUTES_NODE_GUID = 64;
    public static final int ATTRIBUTES_MAX_QP_WR = 112;
    public static final int ATTRIBUTES_MAX_CQE = 132;
    public static final int ATTRIBUTES_MAX_QP_RD_ATOM = 144;
    public static final int ATTRIBUTES_PHYS_PORT_CNT = 227;

    public static final int GID_ENTRY_SIZE = 32;
    public static final int GID_ENTRY_GID = 0;
    public static final int GID_ENTRY_GID_INDEX = 16;
    public static final int GID_ENTRY_PORT_NUM = 20;
    public static final int GID_ENTRY_GID_TYPE = 24;
    public static final int GID_ENTRY_NDEV_IFINDEX = 28;

    private DeviceLayout() {}
}
