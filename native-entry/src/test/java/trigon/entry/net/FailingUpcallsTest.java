package trigon.entry.net;

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
import trigon.entry.host.CallFailures;
import trigon.entry.log.NcclLogger;
import trigon.entry.loopback.Failure;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;

/** Whatever a plugin throws, in whichever call: the upcall, made as C makes it, returns. */
class FailingUpcallsTest {

    /** The table of {@code net/upcalls.h}, with the numbers of arguments. */
    private static final List<String> NAMES = List.of("control", "isend", "irecv", "test");

    private static final int[] ARGUMENTS = {6, 6, 6, 3};
    private static final Set<String> RELEASES =
            Set.of("FINALIZE", "DEREG_MR", "CLOSE_SEND", "CLOSE_RECV", "CLOSE_LISTEN", "MAKE_ROOM");
    private static final long SMALL = 64;

    private final Linker linker = Linker.nativeLinker();

    @ParameterizedTest
    @EnumSource
    void returnAnError(Failure failure) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            CallFailures failures = new CallFailures(new NcclLogger(logLine(arena)));
            MemorySegment table = arena.allocate(ValueLayout.JAVA_LONG, NAMES.size());
            NetPlugin plugin = failure.plugin();
            UpcallTable.fill(table.address(), NAMES.size(), plugin, failures, () -> 0);

            Map<String, Integer> results = new TreeMap<>();
            MethodHandle control = function(table, 0);
            ControlCall[] calls = ControlCall.values();
            for (int number = 0; number < calls.length; number++) {
                Object[] arguments = arguments(6, arena);
                arguments[0] = (long) number;
                if (calls[number] == ControlCall.REG_MR_DMA_BUF) {
                    fill((long) arguments[2]); // address and size of the memory, which may not be 0
                }
                results.put(calls[number].name(), (int) control.invokeWithArguments(arguments));
            }
            for (int i = 1; i < NAMES.size(); i++) {
                String name = NAMES.get(i);
                Object[] arguments = arguments(ARGUMENTS[i], arena);
                if (name.equals("isend")) {
                    arguments[2] = SMALL;
                }
                if (name.equals("irecv")) {
                    arguments[5] = memory(arena).address(); // the request, which is written before the others are read
                }
                results.put(name, (int) function(table, i).invokeWithArguments(arguments));
            }

            assertThat(results)
                    .hasSize(ControlCall.values().length + NAMES.size() - 1)
                    .allSatisfy((name, result) -> assertThat(result)
                            .as(name)
                            .isEqualTo(RELEASES.contains(name) ? 0 : NcclResult.INTERNAL_ERROR.code()));
        }
    }

    private static void fill(long lent) {
        MemorySegment.ofAddress(lent).reinterpret(4 * Long.BYTES).fill((byte) 1);
    }

    private MethodHandle function(MemorySegment table, int index) {
        MemoryLayout[] layouts = new MemoryLayout[ARGUMENTS[index]];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return linker.downcallHandle(
                MemorySegment.ofAddress(table.getAtIndex(ValueLayout.JAVA_LONG, index)),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts));
    }

    /** The address of the same memory, so many times. */
    private static Object[] arguments(int count, Arena arena) {
        Object[] values = new Object[count];
        Arrays.fill(values, memory(arena).address());
        return values;
    }

    /** May be read and written; its first word serves as size and as buffer. */
    private static MemorySegment memory(Arena arena) {
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
