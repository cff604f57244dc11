package trigon.software.call;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Arrays;
import trigon.system.Memory;

/**
 * The functions of {@code lane/software/functions.h}: the table of the entry library that has started this JVM, or that
 * of the library which the property {@value #LIBRARY} names, where there is none. Any thread; allocates nothing.
 */
@SuppressWarnings("EnumOrdinal") // the order is that of C
public final class SoftwareFunctions {

    private static final String LIBRARY = "trigon.lane.library";
    private static final MethodHandle CALL_1 = handle(1);
    private static final MethodHandle CALL_2 = handle(2);
    private static final MethodHandle CALL_3 = handle(3);
    private static final MethodHandle CALL_4 = handle(4);
    private static final MethodHandle CALL_7 = handle(7);
    private static volatile long installed;

    /** The functions, in the order of the table. */
    enum Function {
        WORDS,
        POST_SEND,
        POST_RECEIVE,
        POLL,
        SEND,
        RECEIVE,
        OPEN,
        CLOSE,
        HEAR,
        ADD_REGION,
        REMOVE_REGION,
        FREE_REGION,
        QUEUE_BYTES,
        MAKE_QUEUE,
        PAIR_BYTES,
        MAKE_PAIR,
        OUTBOUND_BYTES,
        MAKE_OUTBOUND,
        INBOUND_BYTES,
        MAKE_INBOUND,
        ATTACH,
        DETACH,
        LOCK,
        UNLOCK,
        GET,
        SET,
        CONNECT,
        ADOPT,
        FAIL,
        FAIL_OLDEST,
        RESET,
        LOSE_OUTBOUND,
        LOSE_INBOUND,
        FORGET,
        WORK,
        SAY_NOT_READY,
        ANSWER,
        PROGRESS,
        GIVE,
        AWAIT_MOVER,
        FINISH_RESPONSES,
        READ_TAIL,
        START_MOVER,
        STOP_MOVER,
        FREE_MOVER
    }

    private static final class Loaded {
        static final SoftwareFunctions FUNCTIONS = new SoftwareFunctions(table());
    }

    private final MemorySegment[] functions;

    private SoftwareFunctions(long table) {
        if (Memory.getLong(table) != Word.values().length) {
            throw new IllegalStateException("the jars and the library of the data path are of different versions");
        }
        functions = Arrays.stream(Function.values())
                .map(function ->
                        MemorySegment.ofAddress(Memory.getLong(table + (long) function.ordinal() * Long.BYTES)))
                .toArray(MemorySegment[]::new);
    }

    /** Uses the functions of a {@code struct software_functions} from now on, unless others are in use already. */
    public static void install(long table) {
        installed = table;
    }

    private static long table() {
        long given = installed;
        if (given != 0) {
            return given;
        }
        String library = System.getProperty(LIBRARY, "");
        if (library.isEmpty()) {
            throw new IllegalStateException(
                    "no library moves the data of software links: name libtrigon-lane.so by -D" + LIBRARY);
        }
        return SymbolLookup.libraryLookup(Path.of(library), Arena.global())
                .findOrThrow("software_functions")
                .address();
    }

    static SoftwareFunctions get() {
        return Loaded.FUNCTIONS;
    }

    private static MethodHandle handle(int arguments) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_LONG, layouts));
    }

    long address(Function function) {
        return functions[function.ordinal()].address();
    }

    long call(Function function, long first) {
        try {
            return (long) CALL_1.invokeExact(functions[function.ordinal()], first);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    long call(Function function, long first, long second) {
        try {
            return (long) CALL_2.invokeExact(functions[function.ordinal()], first, second);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    long call(Function function, long first, long second, long third) {
        try {
            return (long) CALL_3.invokeExact(functions[function.ordinal()], first, second, third);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    long call(Function function, long first, long second, long third, long fourth) {
        try {
            return (long) CALL_4.invokeExact(functions[function.ordinal()], first, second, third, fourth);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    /** For all that have more arguments: those of none are not looked at. */
    long call(
            Function function, long first, long second, long third, long fourth, long fifth, long sixth, long seventh) {
        try {
            return (long) CALL_7.invokeExact(
                    functions[function.ordinal()], first, second, third, fourth, fifth, sixth, seventh);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }
}
