package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.entry.log.NcclLogger;
import trigon.entry.loopback.Failure;
import trigon.transport.NcclResult;
import trigon.transport.NetPlugin;

/** Whatever a plugin throws, in whichever call: the upcall, made as C makes it, returns. */
class FailingUpcallsTest {

    /** The table of {@code entry_upcalls.h}, with the numbers of arguments. */
    private static final List<String> NAMES = List.of(
            "openContext",
            "openDefaultContext",
            "closeContext",
            "devices",
            "properties",
            "listen",
            "connect",
            "accept",
            "registerMemory",
            "deregisterMemory",
            "isend",
            "irecv",
            "irecvIntSizes",
            "iflush",
            "test",
            "closeSend",
            "closeReceive",
            "closeListen",
            "makeRoom");

    private static final int[] ARGUMENTS = {3, 0, 1, 1, 3, 4, 5, 2, 5, 2, 6, 6, 6, 5, 3, 1, 1, 1, 0};
    private static final Set<String> RELEASES =
            Set.of("closeContext", "deregisterMemory", "closeSend", "closeReceive", "closeListen", "makeRoom");
    private static final long SMALL = 64;

    private final Linker linker = Linker.nativeLinker();

    @ParameterizedTest
    @EnumSource
    void returnAnError(Failure failure) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            CallFailures failures = new CallFailures(new NcclLogger(logLine(arena)));
            MemorySegment table = arena.allocate(ValueLayout.JAVA_LONG, NAMES.size());
            NetPlugin plugin = failure.plugin();
            UpcallTable.fill(table.address(), NAMES.size(), plugin, failures, () -> {});

            Map<String, Integer> results = new TreeMap<>();
            for (int i = 0; i < NAMES.size(); i++) {
                String name = NAMES.get(i);
                results.put(name, call(name, table.getAtIndex(ValueLayout.JAVA_LONG, i), ARGUMENTS[i], arena));
            }

            assertThat(results)
                    .hasSize(NAMES.size())
                    .allSatisfy((name, result) -> assertThat(result)
                            .as(name)
                            .isEqualTo(RELEASES.contains(name) ? 0 : NcclResult.INTERNAL_ERROR.code()));
        }
    }

    /** All arguments are the address of the same memory, but for isend's size and irecv's request. */
    private int call(String name, long stub, int arguments, Arena arena) throws Throwable {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        MethodHandle function = linker.downcallHandle(
                MemorySegment.ofAddress(stub), FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts));
        Object[] values = new Object[arguments];
        Arrays.fill(values, arguments(arena).address());
        if (name.equals("isend")) {
            values[2] = SMALL;
        }
        if (name.startsWith("irecv")) {
            values[5] = arguments(arena).address(); // the request, which is written before the others are read
        }
        return (int) function.invokeWithArguments(values);
    }

    /** May be read and written; its first word serves as size and as buffer. */
    private static MemorySegment arguments(Arena arena) {
        MemorySegment memory = arena.allocate(512, Long.BYTES);
        memory.set(ValueLayout.JAVA_LONG, 0, SMALL);
        return memory;
    }

    private long logLine(Arena arena) throws ReflectiveOperationException {
        return linker.upcallStub(
                        MethodHandles.lookup()
                                .findStatic(
                                        FailingUpcallsTest.class,
                                        "log",
                                        MethodType.methodType(int.class, int.class, long.class, MemorySegment.class)),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
                        arena)
                .address();
    }

    @SuppressWarnings("unused")
    private static int log(int level, long subsystems, MemorySegment text) {
        return text.reinterpret(4096).getString(0).isEmpty() ? 0 : 1;
    }
}
