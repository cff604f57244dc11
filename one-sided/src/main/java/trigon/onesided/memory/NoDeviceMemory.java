package trigon.onesided.memory;

/** Memory without a GPU, or a driver of one: everything is the processor's. */
final class NoDeviceMemory implements GpuMemory {

    private static final int NO_DEVICE = 100; // CUDA_ERROR_NO_DEVICE

    @Override
    public boolean exists() {
        return false;
    }

    @Override
    public Kind kindOf(long address) {
        return Kind.HOST;
    }

    @Override
    public void enter() {}

    @Override
    public void leave() {}

    @Override
    public int copy(long to, long from, long bytes) {
        return NO_DEVICE;
    }

    @Override
    public int write(long address, long value) {
        return NO_DEVICE;
    }

    @Override
    public long mark() {
        return -NO_DEVICE;
    }

    @Override
    public int isOver(long mark) {
        return -NO_DEVICE;
    }

    @Override
    public void pin(long address, long bytes) {}

    @Override
    public void unpin(long address) {}

    @Override
    public void finish() {
        // nothing begins
    }

    @Override
    public void close() {}
}
