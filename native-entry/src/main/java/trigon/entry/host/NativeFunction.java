package trigon.entry.host;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.function.IntSupplier;

/** A function of the entry library: {@code int function(void)}. Any thread. */
public final class NativeFunction implements IntSupplier {

    private final MethodHandle function;

    /**
     * A function.
     *
     * @param address where it is
     */
    public NativeFunction(long address) {
        function = Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(address), UpcallStubs.descriptor(0));
    }

    @Override
    public int getAsInt() {
        try {
            return (int) function.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws nothing", e);
        }
    }
}
