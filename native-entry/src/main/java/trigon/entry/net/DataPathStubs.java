package trigon.entry.net;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import trigon.entry.host.UpcallStubs;

/**
 * Upcall stubs of the data path, to be called from Java as C calls them.
 *
 * @param isend address of {@code int isend(comm, data, size, tag, mhandle, request_out)}, all {@code int64_t}
 * @param irecv address of {@code int irecv(comm, data, sizes, tags, mhandles, request)}
 * @param test address of {@code int test(request, done_out, sizes)}
 */
public record DataPathStubs(long isend, long irecv, long test) {

    private static final int LONGEST = 6;
    private static final int TEST_ARGUMENTS = 3;

    /** Makes stubs, which live as long as the arena. */
    public static DataPathStubs to(DataPathUpcalls target, Arena arena) {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        return new DataPathStubs(
                UpcallStubs.stub(lookup, target, "isend", LONGEST, arena),
                UpcallStubs.stub(lookup, target, "irecv", LONGEST, arena),
                UpcallStubs.stub(lookup, target, "test", TEST_ARGUMENTS, arena));
    }

    public MethodHandle callIsend() {
        return call(isend, LONGEST);
    }

    public MethodHandle callIrecv() {
        return call(irecv, LONGEST);
    }

    public MethodHandle callTest() {
        return call(test, TEST_ARGUMENTS);
    }

    private static MethodHandle call(long stub, int arguments) {
        return Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(stub), UpcallStubs.descriptor(arguments));
    }
}
