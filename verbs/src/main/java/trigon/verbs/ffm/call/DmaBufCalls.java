package trigon.verbs.ffm.call;

import java.util.Optional;
import trigon.system.Errno;
import trigon.system.NativeFunction;

/**
 * The verb that registers memory of other devices. It came with rdma-core 34, so a library may lack it; the generated
 * bindings would fail there. Results are as in {@link DeviceCalls}. Thread-safe; linked at its first use.
 */
public final class DmaBufCalls {

    private static final Optional<NativeFunction> REG_DMABUF_MR = VerbsLibrary.find("ibv_reg_dmabuf_mr");

    private DmaBufCalls() {}

    /** Returns whether the library has it. */
    public static boolean isAvailable() {
        return REG_DMABUF_MR.isPresent();
    }

    /** {@code ibv_reg_dmabuf_mr(3)}; EOPNOTSUPP where the library lacks it. */
    public static long register(
            long protectionDomain, long offset, long length, long virtualAddress, int descriptor, int access) {
        return REG_DMABUF_MR
                .map(call -> call.addressOrErrno(protectionDomain, offset, length, virtualAddress, descriptor, access))
                .orElse((long) -Errno.EOPNOTSUPP);
    }
}
