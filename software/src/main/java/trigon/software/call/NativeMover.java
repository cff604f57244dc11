package trigon.software.call;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import trigon.software.call.SoftwareFunctions.Function;

/**
 * A thread of C that makes the progress of queue pairs while they have long messages under way, and sleeps in the
 * kernel as long as no socket of theirs is ready. A queue pair has the same one for life. What it uses is freed when
 * nobody can wake it any more.
 */
public final class NativeMover {

    private final MemorySegment mover;

    /**
     * Starts the thread.
     *
     * @param fromBytes the shortest message that it moves
     * @throws IOException if there is no memory, thread or file descriptor
     */
    public NativeMover(String name, int fromBytes) throws IOException {
        SoftwareFunctions functions = SoftwareFunctions.get();
        long address;
        try (Arena arena = Arena.ofConfined()) {
            address = functions.call(
                    Function.START_MOVER, arena.allocateFrom(name).address(), fromBytes);
        }
        if (address == 0) {
            throw new IOException("no memory, thread or file descriptor for " + name);
        }
        mover = MemorySegment.ofAddress(address)
                .reinterpret(1, Arena.ofAuto(), unused -> functions.call(Function.FREE_MOVER, unused.address()));
    }

    long address() {
        return mover.address();
    }

    /** Ends the thread. What it moved stays where it is, for who polls. Once. */
    public void stop() {
        SoftwareFunctions.get().call(Function.STOP_MOVER, mover.address());
    }
}
