package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.nccl.NcclResult;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.onesided.memory.Window;
import trigon.system.Memory;

/**
 * A rank's puts and gets at itself: done when the call returns. A GPU's memory is waited for, which takes as long as
 * the copy.
 *
 * <p>Data path: its group's thread's.
 */
public final class SelfCopies {

    private static final int CUDA_ERROR = -NcclResult.UNHANDLED_CUDA_ERROR.code();

    private final GpuMemory device;
    private final SignalWord signals;

    /** With what the group has. */
    public SelfCopies(GpuMemory device, SignalWord signals) {
        this.device = device;
        this.signals = signals;
    }

    /** Waits in line for a signal; true once {@link #copy} can be called for it. */
    public boolean reserve(@Nullable Window signal) {
        return signal == null || !signal.isOfDevice() || signals.reserveForSelf(signal);
    }

    /** Copies, then adds; 0 or a failure. */
    public int copy(Transfer transfer) {
        Window source = transfer.source();
        Window target = transfer.target();
        if (transfer.size() > 0 && source != null && target != null) {
            int result = copy(
                    source.address() + transfer.sourceOffset(),
                    target.address() + transfer.targetOffset(),
                    transfer.size(),
                    source.isOfDevice() || target.isOfDevice());
            if (result != 0) {
                return result;
            }
        }
        return add(transfer.signal(), transfer.signalOffset(), transfer.addend());
    }

    private int add(@Nullable Window signal, long signalOffset, long addend) {
        if (signal == null) {
            return 0;
        }
        if (!signal.isOfDevice()) {
            var _ = Memory.getAndAddLong(signal.address() + signalOffset, addend);
            return 0;
        }
        int result = signals.begin(signal, signalOffset, addend) == 0 ? await() : CUDA_ERROR;
        if (result == 0 && !signal.keepsTotals()) {
            result = signals.goOn() == 0 ? await() : CUDA_ERROR;
        }
        return result;
    }

    private int copy(long from, long to, long size, boolean byDevice) {
        if (!byDevice) {
            Memory.copy(from, to, size);
            return 0;
        }
        return device.copy(to, from, size) == 0 ? await() : CUDA_ERROR;
    }

    private int await() {
        long mark = device.mark();
        int isOver = mark < 0 ? CUDA_ERROR : device.isOver(mark);
        while (isOver == 0) {
            Thread.onSpinWait();
            isOver = device.isOver(mark);
        }
        return isOver < 0 ? CUDA_ERROR : 0;
    }
}
