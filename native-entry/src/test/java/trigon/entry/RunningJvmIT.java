package trigon.entry;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** NCCL inside a Java program: the plugin, loaded into this very JVM, uses it. */
class RunningJvmIT {

    private static final int INIT_SLOT = 8;
    private static final int DEVICES_SLOT = 16;
    private static final int FINALIZE_SLOT = 160;

    private static final List<String> LINES = new CopyOnWriteArrayList<>();

    private final Linker linker = Linker.nativeLinker();

    @Test
    void usesTheJvmThatRuns() throws Throwable {
        MemorySegment table = SymbolLookup.libraryLookup(ChildProcess.PLUGIN, Arena.global())
                .findOrThrow("ncclNetPlugin_v12")
                .reinterpret(176);
        MemorySegment context = Arena.global().allocate(ADDRESS);
        MemorySegment count = Arena.global().allocate(JAVA_INT);

        MethodHandle init =
                slot(table, INIT_SLOT, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
        int result = (int) init.invokeExact(context, 7L, MemorySegment.NULL, logger(), MemorySegment.NULL);
        assertThat(result).as("%s", LINES).isZero();
        assertThat(context.get(JAVA_LONG, 0)).isNotZero();

        MethodHandle devices = slot(table, DEVICES_SLOT, FunctionDescriptor.of(JAVA_INT, ADDRESS));
        assertThat((int) devices.invokeExact(count)).isZero();
        assertThat(count.get(JAVA_INT, 0)).isEqualTo(2);

        MethodHandle finish = slot(table, FINALIZE_SLOT, FunctionDescriptor.of(JAVA_INT, ADDRESS));
        assertThat((int) finish.invokeExact(context.get(ADDRESS, 0))).isZero();
        assertThat(LINES).anyMatch(line -> line.contains("using the JVM that runs in this process"));
    }

    private MethodHandle slot(MemorySegment table, int offset, FunctionDescriptor descriptor) {
        return linker.downcallHandle(table.get(ADDRESS, offset), descriptor);
    }

    /** NCCL's logger is variadic; its caller here passes one argument behind the format. */
    private MemorySegment logger() throws ReflectiveOperationException {
        MethodHandle target = MethodHandles.lookup()
                .findStatic(
                        RunningJvmIT.class,
                        "log",
                        MethodType.methodType(
                                void.class,
                                int.class,
                                long.class,
                                MemorySegment.class,
                                int.class,
                                MemorySegment.class,
                                MemorySegment.class));
        return linker.upcallStub(
                target,
                FunctionDescriptor.ofVoid(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_INT, ADDRESS, ADDRESS),
                Arena.global());
    }

    @SuppressWarnings("unused")
    private static void log(
            int level, long subsystems, MemorySegment where, int line, MemorySegment format, MemorySegment text) {
        LINES.add(text.reinterpret(4096).getString(0));
    }
}
