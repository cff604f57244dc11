package trigon.entry;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;
import trigon.transport.NetPlugin;
import trigon.verbs.Memory;

/**
 * Fills C's table ({@code struct upcalls} in {@code entry_upcalls.h}) with upcall stubs, which live as long as the process.
 *
 * <p>All arguments are {@code long}: pointers need no segments then, and targets with equally many arguments share what
 * the linker generates.
 */
final class UpcallTable {

    private static final int POINTER_BYTES = 8;

    private static final int ISEND = 1;
    private static final int IRECV = 2;
    private static final int TEST = 3;

    /** Addresses, in C's order. */
    private final List<Long> stubs = new ArrayList<>();

    private UpcallTable() {}

    /**
     * Fills the table, and has C practise every call before it goes anywhere.
     *
     * <p>The JDK gives a handle that is called often code of its own, outside of the target and of what that catches
     * ({@code java.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD}, 127 calls), and links it in the call after that. Where there is
     * no memory left for it by then, the process ends. So it happens here.
     *
     * @param address of the table
     * @param entries that C expects
     * @param plugin where the calls go
     * @param failures where what they throw goes
     * @param practise calls each entry often enough, with arguments that a {@link PracticePlugin} takes
     * @return the filled table
     * @throws InstallationException where Java has more or fewer
     */
    static UpcallTable fill(long address, long entries, NetPlugin plugin, CallFailures failures, IntSupplier practise) {
        ControlCalls control = new ControlCalls(new PracticePlugin(), failures);
        DataPathCalls dataPath = new DataPathCalls(new PracticePlugin(), failures);
        UpcallTable table = new UpcallTable();
        table.addAll(control, dataPath);
        if (table.stubs.size() != entries) {
            throw new InstallationException(
                    "libnccl-net-trigon.so has %d calls and the jars have %d; install both from one package"
                            .formatted(entries, table.stubs.size()));
        }
        for (int i = 0; i < table.stubs.size(); i++) {
            Memory.putLong(address + (long) POINTER_BYTES * i, table.stubs.get(i));
        }
        var _ = practise.getAsInt();
        control.goTo(plugin);
        dataPath.goTo(plugin);
        return table;
    }

    /** The stubs of the data path, which go where C's calls go. */
    DataPathStubs dataPath() {
        return new DataPathStubs(stubs.get(ISEND), stubs.get(IRECV), stubs.get(TEST));
    }

    /** The order is C's. */
    private void addAll(ControlCalls control, DataPathCalls dataPath) {
        add(control, "call", 6);
        add(dataPath, "isend", 6);
        add(dataPath, "irecv", 6);
        add(dataPath, "test", 3);
    }

    private void add(Object target, String method, int arguments) {
        stubs.add(stub(target, method, arguments, Arena.global()).address());
    }

    /** A stub that calls a method of this package: {@code arguments} times {@code long}, and {@code int} for the result. */
    static MemorySegment stub(Object target, String method, int arguments, Arena arena) {
        Class<?>[] types = new Class<?>[arguments];
        Arrays.fill(types, long.class);
        try {
            MethodHandle handle = MethodHandles.lookup().bind(target, method, MethodType.methodType(int.class, types));
            return Linker.nativeLinker().upcallStub(handle, descriptor(arguments), arena);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no upcall target " + method, e);
        }
    }

    static FunctionDescriptor descriptor(int arguments) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts);
    }
}
