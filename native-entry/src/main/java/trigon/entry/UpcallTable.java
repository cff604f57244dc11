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
import trigon.transport.NetPlugin;
import trigon.verbs.Memory;

/**
 * Fills C's table ({@code struct upcalls} in {@code entry.c}) with upcall stubs, which live as long as the process.
 *
 * <p>All arguments are {@code long}: pointers need no segments then, and targets with equally many arguments share what
 * the linker generates.
 */
final class UpcallTable {

    private static final int POINTER_BYTES = 8;

    private static final int NEWEST_VERSION = 12;

    /** NCCL's structs and arrays, whatever the call. */
    private static final long PRACTICE_BYTES = 4096;

    /**
     * As many calls as the JDK counts before it gives a handle code of its own, outside of the target and what that catches
     * ({@code java.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD}, 127).
     */
    private static final int PRACTICE_CALLS = 128;

    private final List<Long> stubs = new ArrayList<>();
    private final long practice;

    private UpcallTable(long practice) {
        this.practice = practice;
    }

    /**
     * Fills the table. Every call is practised before: the JDK takes memory for a handle that is called often, and where
     * there is none left by then, the process would end.
     *
     * @param address of the table
     * @param entries that C expects
     * @param plugin where the calls go
     * @param failures where what they throw goes
     * @throws InstallationException where Java has more or fewer
     */
    static void fill(long address, long entries, NetPlugin plugin, CallFailures failures) {
        ControlCalls control = new ControlCalls(new PracticePlugin(), failures);
        DataPathCalls dataPath = new DataPathCalls(new PracticePlugin(), failures);
        UpcallTable table;
        try (Arena arena = Arena.ofConfined()) {
            table = new UpcallTable(
                    arena.allocate(PRACTICE_BYTES, POINTER_BYTES).fill((byte) 0).address());
            table.addAll(control, dataPath);
        }
        control.goTo(plugin);
        dataPath.goTo(plugin);
        if (table.stubs.size() != entries) {
            throw new InstallationException(
                    "libnccl-net-trigon.so has %d calls and the jars have %d; install both from one package"
                            .formatted(entries, table.stubs.size()));
        }
        for (int i = 0; i < table.stubs.size(); i++) {
            Memory.putLong(address + (long) POINTER_BYTES * i, table.stubs.get(i));
        }
    }

    /** The order is C's. */
    private void addAll(ControlCalls control, DataPathCalls dataPath) {
        long at = practice;
        add(control, "openContext", at, 0, at);
        add(control, "openDefaultContext");
        add(control, "closeContext", 0);
        add(control, "devices", at);
        add(control, "properties", NEWEST_VERSION, 0, at);
        add(control, "listen", 0, 0, at, at);
        add(control, "connect", 0, 0, at, at, at);
        add(control, "accept", 0, at);
        add(control, "registerMemory", 0, at, 1, 0, at);
        add(control, "deregisterMemory", 0, 0);
        add(dataPath, "isend", 0, at, 0, 0, 0, at);
        add(dataPath, "irecv", 0, at, at, at, at, at);
        add(dataPath, "irecvIntSizes", 0, at, at, at, at, at);
        add(dataPath, "iflush", 0, at, at, at, at);
        add(dataPath, "test", 1, at, at);
        add(control, "closeSend", 0);
        add(control, "closeReceive", 0);
        add(control, "closeListen", 0);
    }

    private void add(Object target, String method, long... practiceArguments) {
        MethodHandle handle = handle(target, method, practiceArguments.length);
        for (int call = 0; call < PRACTICE_CALLS; call++) {
            int result = call(handle, practiceArguments);
            if (result != 0) {
                throw new IllegalStateException("%s returned %d in practice".formatted(method, result));
            }
        }
        stubs.add(stub(handle, practiceArguments.length, Arena.global()).address());
    }

    /** As an upcall stub calls it; by {@code invokeExact}, since only that counts. */
    private static int call(MethodHandle handle, long... a) {
        try {
            return switch (a.length) {
                case 0 -> (int) handle.invokeExact();
                case 1 -> (int) handle.invokeExact(a[0]);
                case 2 -> (int) handle.invokeExact(a[0], a[1]);
                case 3 -> (int) handle.invokeExact(a[0], a[1], a[2]);
                case 4 -> (int) handle.invokeExact(a[0], a[1], a[2], a[3]);
                case 5 -> (int) handle.invokeExact(a[0], a[1], a[2], a[3], a[4]);
                case 6 -> (int) handle.invokeExact(a[0], a[1], a[2], a[3], a[4], a[5]);
                default -> throw new IllegalArgumentException("a call with " + a.length + " arguments");
            };
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("upcall targets throw nothing", e);
        }
    }

    /** A stub that calls a method of this package: {@code arguments} times {@code long}, and {@code int} for the result. */
    static MemorySegment stub(Object target, String method, int arguments, Arena arena) {
        return stub(handle(target, method, arguments), arguments, arena);
    }

    private static MemorySegment stub(MethodHandle handle, int arguments, Arena arena) {
        return Linker.nativeLinker().upcallStub(handle, descriptor(arguments), arena);
    }

    private static MethodHandle handle(Object target, String method, int arguments) {
        Class<?>[] types = new Class<?>[arguments];
        Arrays.fill(types, long.class);
        try {
            return MethodHandles.lookup().bind(target, method, MethodType.methodType(int.class, types));
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
