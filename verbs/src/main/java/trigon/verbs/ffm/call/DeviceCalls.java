package trigon.verbs.ffm.call;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import trigon.system.NativeFunction;

/**
 * The verbs that find, open and query devices. Functions that return an errno give 0 or a positive errno here;
 * functions that return a pointer and set {@code errno} give the address or a negative errno.
 *
 * <p>Thread-safe. Initialising this class needs libibverbs.
 */
public final class DeviceCalls {

    /** IBV_SYSFS_NAME_MAX of infiniband/verbs.h. */
    private static final long MAX_NAME_BYTES = 64;

    private static final NativeFunction FORK_INIT = VerbsLibrary.function("ibv_fork_init");
    private static final NativeFunction GET_DEVICE_LIST = VerbsLibrary.function("ibv_get_device_list");
    private static final NativeFunction FREE_DEVICE_LIST = VerbsLibrary.function("ibv_free_device_list");
    private static final NativeFunction GET_DEVICE_NAME = VerbsLibrary.function("ibv_get_device_name");
    private static final NativeFunction OPEN_DEVICE = VerbsLibrary.function("ibv_open_device");
    private static final NativeFunction CLOSE_DEVICE = VerbsLibrary.function("ibv_close_device");
    private static final NativeFunction QUERY_DEVICE = VerbsLibrary.function("ibv_query_device");
    private static final NativeFunction QUERY_PORT = VerbsLibrary.function("ibv_query_port");
    private static final NativeFunction QUERY_PKEY = VerbsLibrary.function("ibv_query_pkey");
    private static final NativeFunction ALLOC_PD = VerbsLibrary.function("ibv_alloc_pd");
    private static final NativeFunction DEALLOC_PD = VerbsLibrary.function("ibv_dealloc_pd");
    private static final Optional<NativeFunction> QUERY_GID_TABLE = VerbsLibrary.find("_ibv_query_gid_table");

    private DeviceCalls() {}

    /** {@code ibv_fork_init(3)}. */
    public static int forkInit() {
        return ReturnCode.toErrno((int) FORK_INIT.call());
    }

    /**
     * {@code ibv_get_device_list(3)}.
     *
     * @param count an {@code int}; receives the number of devices
     * @return address of the list, to be freed; negative errno ENOSYS where the kernel has no RDMA support loaded
     */
    public static long getDeviceList(MemorySegment count) {
        return GET_DEVICE_LIST.addressOrErrno(count.address());
    }

    /** {@code ibv_free_device_list(3)}. */
    public static void freeDeviceList(long list) {
        long _ = FREE_DEVICE_LIST.call(list);
    }

    /** {@code ibv_get_device_name(3)}. */
    public static String getDeviceName(MemorySegment device) {
        return MemorySegment.ofAddress(GET_DEVICE_NAME.call(device.address()))
                .reinterpret(MAX_NAME_BYTES)
                .getString(0);
    }

    /** {@code ibv_open_device(3)}. */
    public static long openDevice(MemorySegment device) {
        return OPEN_DEVICE.addressOrErrno(device.address());
    }

    /** {@code ibv_close_device(3)}. */
    public static int closeDevice(long context) {
        return ReturnCode.toErrno((int) CLOSE_DEVICE.call(context));
    }

    /** {@code ibv_query_device(3)}. */
    public static int queryDevice(long context, MemorySegment attributes) {
        return ReturnCode.toErrno((int) QUERY_DEVICE.call(context, attributes.address()));
    }

    /**
     * {@code ibv_query_port(3)}. The exported function fills only what {@code struct ibv_port_attr} had in its first
     * version, up to {@code flags}.
     */
    public static int queryPort(long context, int port, MemorySegment zeroedAttributes) {
        return ReturnCode.toErrno((int) QUERY_PORT.call(context, port, zeroedAttributes.address()));
    }

    /** Tells whether there is a {@link #queryGidTable}: rdma-core 32 has it. */
    public static boolean canQueryGidTable() {
        return QUERY_GID_TABLE.isPresent();
    }

    /** {@code ibv_query_gid_table(3)}: all ports' valid entries. Returns their number or a negative errno. */
    public static long queryGidTable(long context, MemorySegment entries, long capacity, long entrySize) {
        return QUERY_GID_TABLE.orElseThrow().call(context, entries.address(), capacity, 0, entrySize, 0, 0);
    }

    /** {@code ibv_query_pkey(3)}; the key is in network order. */
    public static int queryPartitionKey(long context, int port, int index, MemorySegment key) {
        return (int) QUERY_PKEY.call(context, port, index, key.address());
    }

    /** {@code ibv_alloc_pd(3)}. */
    public static long allocateProtectionDomain(long context) {
        return ALLOC_PD.addressOrErrno(context);
    }

    /** {@code ibv_dealloc_pd(3)}. */
    public static int deallocateProtectionDomain(long protectionDomain) {
        return ReturnCode.toErrno((int) DEALLOC_PD.call(protectionDomain));
    }
}
