package trigon.onesided;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import trigon.onesided.memory.GpuMemory;
import trigon.system.Memory;

/**
 * A GPU: its addresses are mapped nowhere, so who touches them but by its copies ends the process. Copies run in their
 * order, each when chance says so.
 */
final class SimulatedDevice implements GpuMemory {

    /** A GPU's address of memory at an address of the processor's. */
    static final long APART = 1L << 56;

    private final Random random;
    private final Deque<Runnable> begun = new ArrayDeque<>();
    private long beginnings;
    private long over;
    private boolean isCurrent;
    private boolean holds;
    private boolean isClosed;

    SimulatedDevice(long seed) {
        random = new Random(seed);
    }

    /** Copies that have begun come to no end until they are waited for, or this is called with false. */
    void hold(boolean all) {
        holds = all;
    }

    boolean isClosed() {
        return isClosed;
    }

    private static long address(long address) {
        return address >= APART ? address - APART : address;
    }

    @Override
    public boolean exists() {
        return true;
    }

    @Override
    public Kind kindOf(long address) {
        return address >= APART ? Kind.DEVICE : Kind.HOST;
    }

    @Override
    public void enter() {
        isCurrent = true;
    }

    @Override
    public void leave() {
        isCurrent = false;
    }

    @Override
    public int copy(long to, long from, long bytes) {
        if (!isCurrent) {
            return 201; // CUDA_ERROR_INVALID_CONTEXT
        }
        begun.add(() -> Memory.copy(address(from), address(to), bytes));
        beginnings++;
        return 0;
    }

    @Override
    public int write(long address, long value) {
        if (!isCurrent) {
            return 201;
        }
        begun.add(() -> Memory.putLong(address(address), value));
        beginnings++;
        return 0;
    }

    @Override
    public long mark() {
        return beginnings;
    }

    @Override
    public void finish() {
        while (!begun.isEmpty()) {
            begun.remove().run();
            over++;
        }
    }

    @Override
    public int isOver(long mark) {
        if (mark < 0) {
            return (int) mark;
        }
        if (over < mark && !holds && random.nextInt(3) == 0) {
            begun.remove().run();
            over++;
        }
        return over >= mark ? 1 : 0;
    }

    @Override
    public void pin(long address, long bytes) {}

    @Override
    public void unpin(long address) {}

    @Override
    public void close() {
        assertThat(begun).as("copies to memory that is given back").isEmpty();
        isClosed = true;
    }
}
