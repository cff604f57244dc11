package trigon.entry;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Upcall stubs of the data path, to be called from Java as C calls them.
 *
 * @param isend address of {@code int isend(comm, data, size, tag, mhandle, request_out)}, all {@code int64_t}
 * @param irecv address of {@code int irecv(comm, data, sizes, tags, mhandles, request)}
 * @param test address of {@code int test(request, done_out, sizes)}
 */
record DataPathStubs(long isend, long irecv, long test) {

    private static final int LONGEST = 6;
    private static final int TEST_ARGUMENTS = 3;

    /** New ones, which live as long as the arena. */
    static DataPathStubs to(DataPathCalls target, Arena arena) {
        return new DataPathStubs(
                UpcallTable.stub(target, "isend", LONGEST, arena).address(),
                UpcallTable.stub(target, "irecv", LONGEST, arena).address(),
                UpcallTable.stub(target, "test", TEST_ARGUMENTS, arena).address());
    }

    MethodHandle callIsend() {
        return call(isend, LONGEST);
    }

    MethodHandle callIrecv() {
        return call(irecv, LONGEST);
    }

    MethodHandle callTest() {
        return call(test, TEST_ARGUMENTS);
    }

    private static MethodHandle call(long stub, int arguments) {
        return Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(stub), UpcallTable.descriptor(arguments));
    }
}
