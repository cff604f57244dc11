package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import trigon.verbs.Errno;
import trigon.verbs.ffm.generated.Verbs;

/**
 * The verbs of the control path with one convention for results. Functions that return an errno give 0 or a positive
 * errno here; functions that return a pointer and set {@code errno} give the address or a negative errno.
 *
 * <p>Thread-safe; {@code errno} is captured into a segment of the call, since the JVM may change the thread's own
 * before Java reads it. Initialising this class needs libibverbs.
 */
final class ControlCalls {

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO_OFFSET = CAPTURE.byteOffset(StructLayout.PathElement.groupElement("errno"));

    private static final MethodHandle GET_DEVICE_LIST =
            capturing(Verbs.ibv_get_device_list$address(), Verbs.ibv_get_device_list$descriptor());
    private static final MethodHandle OPEN_DEVICE =
            capturing(Verbs.ibv_open_device$address(), Verbs.ibv_open_device$descriptor());
    private static final MethodHandle ALLOC_PD =
            capturing(Verbs.ibv_alloc_pd$address(), Verbs.ibv_alloc_pd$descriptor());
    private static final MethodHandle REG_MR = capturing(Verbs.ibv_reg_mr$address(), Verbs.ibv_reg_mr$descriptor());
    private static final MethodHandle REG_MR_IOVA2 =
            capturing(Verbs.ibv_reg_mr_iova2$address(), Verbs.ibv_reg_mr_iova2$descriptor());
    private static final MethodHandle CREATE_CQ =
            capturing(Verbs.ibv_create_cq$address(), Verbs.ibv_create_cq$descriptor());
    private static final MethodHandle CREATE_QP =
            capturing(Verbs.ibv_create_qp$address(), Verbs.ibv_create_qp$descriptor());

    /** A call of a function that returns a pointer; the first argument takes {@code errno}. */
    @FunctionalInterface
    private interface PointerCall {
        MemorySegment call(MemorySegment captured) throws Throwable;
    }

    private ControlCalls() {}

    private static MethodHandle capturing(MemorySegment function, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(function, descriptor, Linker.Option.captureCallState("errno"));
    }

    private static long addressOrErrno(PointerCall function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            MemorySegment result = function.call(captured);
            if (result.address() != 0) {
                return result.address();
            }
            int errno = captured.get(ValueLayout.JAVA_INT, ERRNO_OFFSET);
            return errno > 0 ? -errno : -Errno.EIO;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws no checked exception", e);
        }
    }

    /** {@code ibv_fork_init(3)}. */
    static int forkInit() {
        return ReturnCode.toErrno(Verbs.ibv_fork_init());
    }

    /**
     * {@code ibv_get_device_list(3)}.
     *
     * @param count an {@code int}; receives the number of devices
     * @return address of the list, to be freed; negative errno ENOSYS where the kernel has no RDMA support loaded
     */
    static long getDeviceList(MemorySegment count) {
        return addressOrErrno(captured -> (MemorySegment) GET_DEVICE_LIST.invokeExact(captured, count));
    }

    /** {@code ibv_free_device_list(3)}. */
    static void freeDeviceList(long list) {
        Verbs.ibv_free_device_list(MemorySegment.ofAddress(list));
    }

    /** {@code ibv_get_device_name(3)}. */
    static String getDeviceName(MemorySegment device) {
        return Verbs.ibv_get_device_name(device).getString(0);
    }

    /** {@code ibv_open_device(3)}. */
    static long openDevice(MemorySegment device) {
        return addressOrErrno(captured -> (MemorySegment) OPEN_DEVICE.invokeExact(captured, device));
    }

    /** {@code ibv_close_device(3)}. */
    static int closeDevice(long context) {
        return ReturnCode.toErrno(Verbs.ibv_close_device(MemorySegment.ofAddress(context)));
    }

    /** {@code ibv_query_device(3)}. */
    static int queryDevice(long context, MemorySegment attributes) {
        return ReturnCode.toErrno(Verbs.ibv_query_device(MemorySegment.ofAddress(context), attributes));
    }

    /**
     * {@code ibv_query_port(3)}. The exported function fills only what {@code struct ibv_port_attr} had in its first
     * version, up to {@code flags}.
     */
    static int queryPort(long context, int port, MemorySegment zeroedAttributes) {
        return ReturnCode.toErrno(
                Verbs.ibv_query_port(MemorySegment.ofAddress(context), (byte) port, zeroedAttributes));
    }

    /** {@code ibv_query_gid_table(3)}: all ports' valid entries. Returns their number or a negative errno. */
    static long queryGidTable(long context, MemorySegment entries, long capacity, long entrySize) {
        return Verbs._ibv_query_gid_table(MemorySegment.ofAddress(context), entries, capacity, 0, entrySize);
    }

    /** {@code ibv_alloc_pd(3)}. */
    static long allocateProtectionDomain(long context) {
        MemorySegment device = MemorySegment.ofAddress(context);
        return addressOrErrno(captured -> (MemorySegment) ALLOC_PD.invokeExact(captured, device));
    }

    /** {@code ibv_dealloc_pd(3)}. */
    static int deallocateProtectionDomain(long protectionDomain) {
        return ReturnCode.toErrno(Verbs.ibv_dealloc_pd(MemorySegment.ofAddress(protectionDomain)));
    }

    /** {@code ibv_reg_mr(3)}, for access flags that every kernel knows. */
    static long registerMemory(long protectionDomain, long address, long length, int access) {
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        MemorySegment start = MemorySegment.ofAddress(address);
        return addressOrErrno(captured -> (MemorySegment) REG_MR.invokeExact(captured, domain, start, length, access));
    }

    /** {@code ibv_reg_mr_iova2}: as {@code ibv_reg_mr(3)}, and leaves out optional flags that the kernel lacks. */
    static long registerMemoryWithOptionalAccess(long protectionDomain, long address, long length, int access) {
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        MemorySegment start = MemorySegment.ofAddress(address);
        return addressOrErrno(
                captured -> (MemorySegment) REG_MR_IOVA2.invokeExact(captured, domain, start, length, address, access));
    }

    /** {@code ibv_dereg_mr(3)}. */
    static int deregisterMemory(long memoryRegion) {
        return ReturnCode.toErrno(Verbs.ibv_dereg_mr(MemorySegment.ofAddress(memoryRegion)));
    }

    /** {@code ibv_create_cq(3)}, without a completion channel. */
    static long createCompletionQueue(long context, int entries) {
        MemorySegment device = MemorySegment.ofAddress(context);
        return addressOrErrno(captured -> (MemorySegment)
                CREATE_CQ.invokeExact(captured, device, entries, MemorySegment.NULL, MemorySegment.NULL, 0));
    }

    /** {@code ibv_destroy_cq(3)}. */
    static int destroyCompletionQueue(long completionQueue) {
        return ReturnCode.toErrno(Verbs.ibv_destroy_cq(MemorySegment.ofAddress(completionQueue)));
    }

    /** {@code ibv_create_qp(3)}; {@code initialAttributes.cap} receives what was given. */
    static long createQueuePair(long protectionDomain, MemorySegment initialAttributes) {
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        return addressOrErrno(captured -> (MemorySegment) CREATE_QP.invokeExact(captured, domain, initialAttributes));
    }

    /** {@code ibv_modify_qp(3)}. */
    static int modifyQueuePair(long queuePair, MemorySegment attributes, int mask) {
        return ReturnCode.toErrno(Verbs.ibv_modify_qp(MemorySegment.ofAddress(queuePair), attributes, mask));
    }

    /** {@code ibv_query_qp(3)}. */
    static int queryQueuePair(long queuePair, MemorySegment attributes, int mask, MemorySegment initialAttributes) {
        return ReturnCode.toErrno(
                Verbs.ibv_query_qp(MemorySegment.ofAddress(queuePair), attributes, mask, initialAttributes));
    }

    /** {@code ibv_destroy_qp(3)}. */
    static int destroyQueuePair(long queuePair) {
        return ReturnCode.toErrno(Verbs.ibv_destroy_qp(MemorySegment.ofAddress(queuePair)));
    }
}
