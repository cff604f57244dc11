package trigon.onesided.cuda;

import java.lang.foreign.Arena;
import trigon.onesided.memory.GpuMemory;
import trigon.system.Memory;

/**
 * A GPU's memory by copies of its driver, on a stream of its own. Its context is the one that was current where it was
 * opened: NCCL's control threads have one, its proxy threads have none.
 */
public final class CudaMemory implements GpuMemory {

    private static final int SUCCESS = 0;
    private static final int NOT_READY = 600; // CUDA_ERROR_NOT_READY
    private static final int NON_BLOCKING = 1; // CU_STREAM_NON_BLOCKING
    private static final int WITHOUT_TIMES = 2; // CU_EVENT_DISABLE_TIMING
    private static final int MEMORY_TYPE = 2; // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    private static final int OF_DEVICE = 2; // CU_MEMORYTYPE_DEVICE

    /** Marks that can be told apart; older ones count as over once a later one is. */
    private static final int EVENTS = 256;

    private final CudaDriver driver;
    private final Arena arena = Arena.ofShared();
    private final long scratch = arena.allocate(16, 8).address();
    private final long context;
    private final long stream;
    private final long[] events = new long[EVENTS];

    /** Since {@link #enter}, the context has been needed; then the thread's own is {@link #previous}. */
    private boolean isCurrent;

    private long previous;
    private long marks;
    private long over;

    private CudaMemory(CudaDriver driver, long context) {
        this.driver = driver;
        this.context = context;
        check("cuStreamCreate", driver.streamCreate(scratch, NON_BLOCKING));
        stream = Memory.getLong(scratch);
        for (int i = 0; i < EVENTS; i++) {
            check("cuEventCreate", driver.eventCreate(scratch, WITHOUT_TIMES));
            events[i] = Memory.getLong(scratch);
        }
    }

    /**
     * Memory of the calling thread's GPU; none where the thread has no CUDA context, as without a GPU.
     *
     * @throws IllegalArgumentException if the driver refuses
     */
    public static GpuMemory ofThisThread(CudaDriver driver) {
        try (Arena arena = Arena.ofConfined()) {
            long out = arena.allocate(8, 8).address();
            boolean hasContext = driver.getCurrent(out) == SUCCESS && Memory.getLong(out) != 0;
            return hasContext ? new CudaMemory(driver, Memory.getLong(out)) : GpuMemory.NONE;
        }
    }

    private static void check(String call, int result) {
        if (result != SUCCESS) {
            throw new IllegalArgumentException(
                    "%s failed with CUresult %d; see the program's own CUDA errors and dmesg".formatted(call, result));
        }
    }

    @Override
    public boolean exists() {
        return true;
    }

    /** Memory that the driver does not know is the processor's. */
    @Override
    public Kind kindOf(long address) {
        long out = scratch + 8;
        Memory.putLong(out, 0);
        int result = driver.attribute(out, MEMORY_TYPE, address);
        return result == SUCCESS && Memory.getInt(out) == OF_DEVICE ? Kind.DEVICE : Kind.HOST;
    }

    /** Nearly all calls of NCCL's progress thread find nothing to copy: they do not ask the driver. */
    @Override
    public void enter() {
        isCurrent = false;
    }

    @Override
    public void leave() {
        if (isCurrent && previous != context) {
            var _ = driver.setCurrent(previous);
        }
        isCurrent = false;
    }

    private void makeCurrent() {
        if (isCurrent) {
            return;
        }
        isCurrent = true;
        previous = driver.getCurrent(scratch) == SUCCESS ? Memory.getLong(scratch) : 0;
        if (previous != context) {
            var _ = driver.setCurrent(context);
        }
    }

    @Override
    public int copy(long to, long from, long bytes) {
        makeCurrent();
        return driver.copy(to, from, bytes, stream);
    }

    @Override
    public int write(long address, long value) {
        makeCurrent();
        return driver.writeValue(stream, address, value);
    }

    @Override
    public long mark() {
        makeCurrent();
        marks++;
        int result = driver.eventRecord(events[(int) (marks % EVENTS)], stream);
        return result == SUCCESS ? marks : -result;
    }

    @Override
    public int isOver(long mark) {
        if (mark < 0) {
            return (int) mark;
        }
        if (mark <= over) {
            return 1;
        }
        makeCurrent();
        int result = driver.eventQuery(events[(int) (mark % EVENTS)]);
        if (result == NOT_READY) {
            return 0;
        }
        if (result != SUCCESS) {
            return -result;
        }
        over = mark;
        return 1;
    }

    @Override
    public void pin(long address, long bytes) {
        var _ = driver.register(address, bytes); // without it copies are slower
    }

    @Override
    public void unpin(long address) {
        var _ = driver.unregister(address);
    }

    /** The caller's context is NCCL's, and any will do: nothing is begun. */
    @Override
    public void finish() {
        var _ = driver.streamSynchronize(stream); // fails where the copies have failed: they are over, too
    }

    /** Its copies are over, or no longer wanted: whoever closes stages nothing any more. */
    @Override
    public void close() {
        enter();
        makeCurrent();
        for (long event : events) {
            var _ = driver.eventDestroy(event);
        }
        var _ = driver.streamDestroy(stream);
        leave();
        arena.close();
    }
}
