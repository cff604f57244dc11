package trigon.entry.host;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import trigon.system.Memory;

/**
 * Upcall stubs of one shape: so many times {@code long}, and {@code int} for the result. Pointers need no segments
 * then, and targets with equally many arguments share what the linker generates.
 */
public final class UpcallStubs {

    private static final long POINTER_BYTES = 8;

    private UpcallStubs() {}

    /**
     * Fills a table of C's with the addresses of stubs.
     *
     * @param table address of the table, one function pointer an entry
     * @param entries that C expects
     * @param inOrderOfC stubs, which live as long as the process
     * @throws InstallationException where C expects another number of calls
     */
    public static void fill(long table, long entries, List<Long> inOrderOfC) {
        if (inOrderOfC.size() != entries) {
            throw new InstallationException(
                    "libnccl-net-trigon.so has %d calls and the jars have %d; install both from one package"
                            .formatted(entries, inOrderOfC.size()));
        }
        for (int i = 0; i < inOrderOfC.size(); i++) {
            Memory.putLong(table + POINTER_BYTES * i, inOrderOfC.get(i));
        }
    }

    /**
     * Makes a stub that calls a method of an object, and returns its address.
     *
     * @param lookup may call the method
     * @param target the object
     * @param method its method, which throws nothing: that would end the process
     * @param arguments of the method
     * @param arena whose life the stub has
     */
    public static long stub(MethodHandles.Lookup lookup, Object target, String method, int arguments, Arena arena) {
        Class<?>[] types = new Class<?>[arguments];
        Arrays.fill(types, long.class);
        try {
            MethodHandle handle = lookup.bind(target, method, MethodType.methodType(int.class, types));
            return Linker.nativeLinker()
                    .upcallStub(handle, descriptor(arguments), arena)
                    .address();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no upcall target " + method, e);
        }
    }

    /** The C signature of a stub. */
    public static FunctionDescriptor descriptor(int arguments) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts);
    }
}
