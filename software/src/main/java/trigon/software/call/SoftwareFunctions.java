package trigon.software.call;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.Arrays;
import trigon.system.Memory;
import trigon.system.NativeFunction;

/**
 * The functions of {@code lane/software/functions.h}: the table of the entry library that has started this JVM, or that
 * of the library which the property {@value #LIBRARY} names, where there is none. Any thread; allocates nothing.
 */
@SuppressWarnings("EnumOrdinal") // the order is that of C
public final class SoftwareFunctions {

    private static final String LIBRARY = "trigon.lane.library";
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

    private final NativeFunction[] functions;

    private SoftwareFunctions(long table) {
        if (Memory.getLong(table) != Word.values().length) {
            throw new IllegalStateException("the jars and the library of the data path are of different versions");
        }
        functions = Arrays.stream(Function.values())
                .map(function -> NativeFunction.at(Memory.getLong(table + (long) function.ordinal() * Long.BYTES)))
                .toArray(NativeFunction[]::new);
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

    long address(Function function) {
        return functions[function.ordinal()].address();
    }

    long call(Function function, long first) {
        return functions[function.ordinal()].call(first);
    }

    long call(Function function, long first, long second) {
        return functions[function.ordinal()].call(first, second);
    }

    long call(Function function, long first, long second, long third) {
        return functions[function.ordinal()].call(first, second, third);
    }

    long call(Function function, long first, long second, long third, long fourth) {
        return functions[function.ordinal()].call(first, second, third, fourth);
    }

    /** For all that have more arguments: those of none are not looked at. */
    long call(
            Function function, long first, long second, long third, long fourth, long fifth, long sixth, long seventh) {
        return functions[function.ordinal()].call(first, second, third, fourth, fifth, sixth, seventh);
    }
}
