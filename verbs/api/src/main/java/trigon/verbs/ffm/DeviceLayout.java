package trigon.verbs.ffm;

/**
 * Sizes of, and offsets in, {@code struct ibv_context}, {@code struct ibv_device_attr} and {@code struct ibv_gid_entry}
 * on 64-bit Linux. Constants, since to initialise the generated classes of structs that have arrays takes 30 ms, a
 * tenth of {@code init}; a test compares them with those.
 */
final class DeviceLayout {

    static final int CONTEXT_SIZE = 328;
    static final int CONTEXT_POLL_CQ = 96;
    static final int CONTEXT_POST_SEND = 208;
    static final int CONTEXT_POST_RECV = 216;
    static final int CONTEXT_ASYNC_FD = 268;

    static final int ATTRIBUTES_SIZE = 232;
    static final int ATTRIBUTES_NODE_GUID = 64;
    static final int ATTRIBUTES_MAX_QP_WR = 112;
    static final int ATTRIBUTES_MAX_CQE = 132;
    static final int ATTRIBUTES_MAX_QP_RD_ATOM = 144;
    static final int ATTRIBUTES_PHYS_PORT_CNT = 227;

    static final int GID_ENTRY_SIZE = 32;
    static final int GID_ENTRY_GID = 0;
    static final int GID_ENTRY_GID_INDEX = 16;
    static final int GID_ENTRY_PORT_NUM = 20;
    static final int GID_ENTRY_GID_TYPE = 24;
    static final int GID_ENTRY_NDEV_IFINDEX = 28;

    private DeviceLayout() {}
}
