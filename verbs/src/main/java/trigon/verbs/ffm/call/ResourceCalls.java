package trigon.verbs.ffm.call;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import trigon.verbs.ffm.generated.Verbs;

/**
 * The verbs of what connections have: memory regions, completion queues, queue pairs. Results are as in
 * {@link DeviceCalls}.
 *
 * <p>Thread-safe. Initialising this class needs libibverbs, and links these functions: left to the first connection.
 */
public final class ResourceCalls {

    private static final MethodHandle REG_MR =
            CapturedErrno.downcall(Verbs.ibv_reg_mr$address(), Verbs.ibv_reg_mr$descriptor());
    private static final MethodHandle REG_MR_IOVA2 =
            CapturedErrno.downcall(Verbs.ibv_reg_mr_iova2$address(), Verbs.ibv_reg_mr_iova2$descriptor());
    private static final MethodHandle CREATE_CQ =
            CapturedErrno.downcall(Verbs.ibv_create_cq$address(), Verbs.ibv_create_cq$descriptor());
    private static final MethodHandle CREATE_QP =
            CapturedErrno.downcall(Verbs.ibv_create_qp$address(), Verbs.ibv_create_qp$descriptor());

    private ResourceCalls() {}

    /** {@code ibv_reg_mr(3)}, for access flags that every kernel knows. */
    public static long registerMemory(long protectionDomain, long address, long length, int access) {
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        MemorySegment start = MemorySegment.ofAddress(address);
        return CapturedErrno.addressOrErrno(
                captured -> (MemorySegment) REG_MR.invokeExact(captured, domain, start, length, access));
    }

    /** {@code ibv_reg_mr_iova2}: as {@code ibv_reg_mr(3)}, and leaves out optional flags that the kernel lacks. */
    public static long registerMemoryWithOptionalAccess(long protectionDomain, long address, long length, int access) {
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        MemorySegment start = MemorySegment.ofAddress(address);
        return CapturedErrno.addressOrErrno(
                captured -> (MemorySegment) REG_MR_IOVA2.invokeExact(captured, domain, start, length, address, access));
    }

    /** {@code ibv_dereg_mr(3)}. */
    public static int deregisterMemory(long memoryRegion) {
        return ReturnCode.toErrno(Verbs.ibv_dereg_mr(MemorySegment.ofAddress(memoryRegion)));
    }

    /** {@code ibv_create_cq(3)}, without a completion channel. */
    public static long createCompletionQueue(long context, int entries) {
        MemorySegment device = MemorySegment.ofAddress(context);
        return CapturedErrno.addressOrErrno(captured -> (MemorySegment)
                CREATE_CQ.invokeExact(captured, device, entries, MemorySegment.NULL, MemorySegment.NULL, 0));
    }

    /** {@code ibv_destroy_cq(3)}. */
    public static int destroyCompletionQueue(long completionQueue) {
        return ReturnCode.toErrno(Verbs.ibv_destroy_cq(MemorySegment.ofAddress(completionQueue)));
    }

    /** {@code ibv_create_qp(3)}; {@code initialAttributes.cap} receives what was given. */
    public static long createQueuePair(long protectionDomain, MemorySegment initialAttributes) {
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        return CapturedErrno.addressOrErrno(
                captured -> (MemorySegment) CREATE_QP.invokeExact(captured, domain, initialAttributes));
    }

    /** {@code ibv_modify_qp(3)}. */
    public static int modifyQueuePair(long queuePair, MemorySegment attributes, int mask) {
        return ReturnCode.toErrno(Verbs.ibv_modify_qp(MemorySegment.ofAddress(queuePair), attributes, mask));
    }

    /** {@code ibv_query_qp(3)}. */
    public static int queryQueuePair(
            long queuePair, MemorySegment attributes, int mask, MemorySegment initialAttributes) {
        return ReturnCode.toErrno(
                Verbs.ibv_query_qp(MemorySegment.ofAddress(queuePair), attributes, mask, initialAttributes));
    }

    /** {@code ibv_destroy_qp(3)}. */
    public static int destroyQueuePair(long queuePair) {
        return ReturnCode.toErrno(Verbs.ibv_destroy_qp(MemorySegment.ofAddress(queuePair)));
    }
}
