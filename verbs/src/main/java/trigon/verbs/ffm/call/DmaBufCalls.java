package trigon.verbs.ffm.call;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import trigon.system.Errno;

/**
 * The verb that registers memory of other devices. It came with rdma-core 34, so a library may lack it; the generated
 * bindings would fail there. Results are as in {@link DeviceCalls}. Thread-safe; linked at its first use.
 */
public final class DmaBufCalls {

    private static final Optional<MethodHandle> REG_DMABUF_MR = SymbolLookup.libraryLookup(
                    "libibverbs.so.1", Arena.global())
            .find("ibv_reg_dmabuf_mr")
            .map(function -> CapturedErrno.downcall(
                    function,
                    FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT)));

    private DmaBufCalls() {}

    /** Returns whether the library has it. */
    public static boolean isAvailable() {
        return REG_DMABUF_MR.isPresent();
    }

    /** {@code ibv_reg_dmabuf_mr(3)}; EOPNOTSUPP where the library lacks it. */
    public static long register(
            long protectionDomain, long offset, long length, long virtualAddress, int descriptor, int access) {
        if (REG_DMABUF_MR.isEmpty()) {
            return -Errno.EOPNOTSUPP;
        }
        MethodHandle call = REG_DMABUF_MR.get();
        MemorySegment domain = MemorySegment.ofAddress(protectionDomain);
        return CapturedErrno.addressOrErrno(captured ->
                (MemorySegment) call.invokeExact(captured, domain, offset, length, virtualAddress, descriptor, access));
    }
}
