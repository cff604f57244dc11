package trigon.verbs.ffm.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import trigon.verbs.ffm.generated.Verbs;

/**
 * The verbs that find, open and query devices. Functions that return an errno give 0 or a positive errno here;
 * functions that return a pointer and set {@code errno} give the address or a negative errno.
 *
 * <p>Thread-safe. Initialising this class needs libibverbs, and links what {@code init} needs, which takes a good part
 * of it: what only connections need is in {@link ResourceCalls}, and in {@link AsyncEventCalls} what is needed later
 * still.
 */
public final class DeviceCalls {

    private static final MethodHandle GET_DEVICE_LIST =
            CapturedErrno.downcall(Verbs.ibv_get_device_list$address(), Verbs.ibv_get_device_list$descriptor());
    private static final MethodHandle OPEN_DEVICE =
            CapturedErrno.downcall(Verbs.ibv_open_device$address(), Verbs.ibv_open_device$descriptor());
    private static final MethodHandle ALLOC_PD =
            CapturedErrno.downcall(Verbs.ibv_alloc_pd$address(), Verbs.ibv_alloc_pd$descriptor());

    private static final boolean HAS_GID_TABLE = SymbolLookup.libraryLookup("libibverbs.so.1", Arena.global())
            .find("_ibv_query_gid_table")
            .isPresent();

    private DeviceCalls() {}

    /** {@code ibv_fork_init(3)}. */
    public static int forkInit() {
        return ReturnCode.toErrno(Verbs.ibv_fork_init());
    }

    /**
     * {@code ibv_get_device_list(3)}.
     *
     * @param count an {@code int}; receives the number of devices
     * @return address of the list, to be freed; negative errno ENOSYS where the kernel has no RDMA support loaded
     */
    public static long getDeviceList(MemorySegment count) {
        return CapturedErrno.addressOrErrno(captured -> (MemorySegment) GET_DEVICE_LIST.invokeExact(captured, count));
    }

    /** {@code ibv_free_device_list(3)}. */
    public static void freeDeviceList(long list) {
        Verbs.ibv_free_device_list(MemorySegment.ofAddress(list));
    }

    /** {@code ibv_get_device_name(3)}. */
    public static String getDeviceName(MemorySegment device) {
        return Verbs.ibv_get_device_name(device).getString(0);
    }

    /** {@code ibv_open_device(3)}. */
    public static long openDevice(MemorySegment device) {
        return CapturedErrno.addressOrErrno(captured -> (MemorySegment) OPEN_DEVICE.invokeExact(captured, device));
    }

    /** {@code ibv_close_device(3)}. */
    public static int closeDevice(long context) {
        return ReturnCode.toErrno(Verbs.ibv_close_device(MemorySegment.ofAddress(context)));
    }

    /** {@code ibv_query_device(3)}. */
    public static int queryDevice(long context, MemorySegment attributes) {
        return ReturnCode.toErrno(Verbs.ibv_query_device(MemorySegment.ofAddress(context), attributes));
    }

    /**
     * {@code ibv_query_port(3)}. The exported function fills only what {@code struct ibv_port_attr} had in its first
     * version, up to {@code flags}.
     */
    public static int queryPort(long context, int port, MemorySegment zeroedAttributes) {
        return ReturnCode.toErrno(
                Verbs.ibv_query_port(MemorySegment.ofAddress(context), (byte) port, zeroedAttributes));
    }

    /** Tells whether there is a {@link #queryGidTable}: rdma-core 32 has it. */
    public static boolean canQueryGidTable() {
        return HAS_GID_TABLE;
    }

    /** {@code ibv_query_gid_table(3)}: all ports' valid entries. Returns their number or a negative errno. */
    public static long queryGidTable(long context, MemorySegment entries, long capacity, long entrySize) {
        return Verbs._ibv_query_gid_table(MemorySegment.ofAddress(context), entries, capacity, 0, entrySize);
    }

    /** {@code ibv_query_pkey(3)}; the key is in network order. */
    public static int queryPartitionKey(long context, int port, int index, MemorySegment key) {
        return Verbs.ibv_query_pkey(MemorySegment.ofAddress(context), (byte) port, index, key);
    }

    /** {@code ibv_alloc_pd(3)}. */
    public static long allocateProtectionDomain(long context) {
        MemorySegment device = MemorySegment.ofAddress(context);
        return CapturedErrno.addressOrErrno(captured -> (MemorySegment) ALLOC_PD.invokeExact(captured, device));
    }

    /** {@code ibv_dealloc_pd(3)}. */
    public static int deallocateProtectionDomain(long protectionDomain) {
        return ReturnCode.toErrno(Verbs.ibv_dealloc_pd(MemorySegment.ofAddress(protectionDomain)));
    }
}
