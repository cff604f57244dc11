package trigon.verbs.ffm.call;

import java.lang.foreign.MemorySegment;
import trigon.system.NativeFunction;

/**
 * The verbs of what connections have: memory regions, completion queues, queue pairs. Results are as in
 * {@link DeviceCalls}.
 *
 * <p>Thread-safe. Initialising this class needs libibverbs.
 */
public final class ResourceCalls {

    private static final NativeFunction REG_MR = VerbsLibrary.function("ibv_reg_mr");
    private static final NativeFunction REG_MR_IOVA2 = VerbsLibrary.function("ibv_reg_mr_iova2");
    private static final NativeFunction DEREG_MR = VerbsLibrary.function("ibv_dereg_mr");
    private static final NativeFunction CREATE_CQ = VerbsLibrary.function("ibv_create_cq");
    private static final NativeFunction DESTROY_CQ = VerbsLibrary.function("ibv_destroy_cq");
    private static final NativeFunction CREATE_QP = VerbsLibrary.function("ibv_create_qp");
    private static final NativeFunction MODIFY_QP = VerbsLibrary.function("ibv_modify_qp");
    private static final NativeFunction QUERY_QP = VerbsLibrary.function("ibv_query_qp");
    private static final NativeFunction DESTROY_QP = VerbsLibrary.function("ibv_destroy_qp");

    private ResourceCalls() {}

    /** {@code ibv_reg_mr(3)}, for access flags that every kernel knows. */
    public static long registerMemory(long protectionDomain, long address, long length, int access) {
        return REG_MR.addressOrErrno(protectionDomain, address, length, access);
    }

    /** {@code ibv_reg_mr_iova2}: as {@code ibv_reg_mr(3)}, and leaves out optional flags that the kernel lacks. */
    public static long registerMemoryWithOptionalAccess(long protectionDomain, long address, long length, int access) {
        return REG_MR_IOVA2.addressOrErrno(protectionDomain, address, length, address, access);
    }

    /** {@code ibv_dereg_mr(3)}. */
    public static int deregisterMemory(long memoryRegion) {
        return ReturnCode.toErrno((int) DEREG_MR.call(memoryRegion));
    }

    /** {@code ibv_create_cq(3)}, without a completion channel. */
    public static long createCompletionQueue(long context, int entries) {
        return CREATE_CQ.addressOrErrno(context, entries, 0, 0, 0);
    }

    /** {@code ibv_destroy_cq(3)}. */
    public static int destroyCompletionQueue(long completionQueue) {
        return ReturnCode.toErrno((int) DESTROY_CQ.call(completionQueue));
    }

    /** {@code ibv_create_qp(3)}; {@code initialAttributes.cap} receives what was given. */
    public static long createQueuePair(long protectionDomain, MemorySegment initialAttributes) {
        return CREATE_QP.addressOrErrno(protectionDomain, initialAttributes.address());
    }

    /** {@code ibv_modify_qp(3)}. */
    public static int modifyQueuePair(long queuePair, MemorySegment attributes, int mask) {
        return ReturnCode.toErrno((int) MODIFY_QP.call(queuePair, attributes.address(), mask));
    }

    /** {@code ibv_query_qp(3)}. */
    public static int queryQueuePair(
            long queuePair, MemorySegment attributes, int mask, MemorySegment initialAttributes) {
        return ReturnCode.toErrno(
                (int) QUERY_QP.call(queuePair, attributes.address(), mask, initialAttributes.address()));
    }

    /** {@code ibv_destroy_qp(3)}. */
    public static int destroyQueuePair(long queuePair) {
        return ReturnCode.toErrno((int) DESTROY_QP.call(queuePair));
    }
}
