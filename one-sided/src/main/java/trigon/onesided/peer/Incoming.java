package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Window;
import trigon.onesided.memory.Windows;
import trigon.system.Memory;

/**
 * Another rank's traffic to this one: records in their order, each applied when its payload is where it belongs and
 * the record before is applied. So a signal is never seen before any data that was put earlier, whatever links it came
 * over.
 *
 * <p>Payloads go straight into a window's memory; those for a GPU's by a staging place. Where that memory is all that
 * records touch they overlap: the driver keeps the order.
 *
 * <p>Data path: its group's thread's. Calls return 0, or a negative failure after which nothing may be called.
 */
public final class Incoming {

    private static final int REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();
    private static final int CUDA_ERROR = -NcclResult.UNHANDLED_CUDA_ERROR.code();
    private static final int MASK = RankConnection.MAX_MESSAGES - 1;

    private final RankConnection from;
    private final NetPlugin net;
    private final Staging staging;
    private final GpuMemory device;
    private final Windows windows;
    private final Outgoing answers;
    private final SignalWord signals;

    private final long[] recordRequests = new long[MASK + 1];
    private final int[] missing = new int[MASK + 1];
    private final long[] marks = new long[MASK + 1];
    private final Pieces pieces = new Pieces();

    /** Counted: receives posted, records arrived, payloads' receives posted, begun to be applied, applied. */
    private long posted;

    private long arrived;
    private long payloadOf;
    private long begun;
    private long applied;

    /** Address of the next piece of {@link #payloadOf}. */
    private long payloadFrom;

    /** All that has begun and is not applied touches nothing but the GPU's memory. */
    private boolean overlaps = true;

    /** The group's addition that has to read is this one's. */
    private boolean reading;

    private @Nullable String problem;

    /** Why nothing comes any more; what has arrived is applied all the same: its sender was told that it is done. */
    private int broken;

    private Farewell farewell = Farewell.NONE;

    /** Progress of the other rank's last record. */
    private enum Farewell {
        NONE,

        /** The connection ends, so it is polled no more: it could report a failure, and with it the communicator's. */
        ARRIVED,

        /** The other rank has ended its part: what happens to the connection is no failure. */
        APPLIED
    }

    /** Nothing has come yet. */
    public Incoming(
            RankConnection from,
            Staging staging,
            GpuMemory device,
            Windows windows,
            SignalWord signals,
            Outgoing answers) {
        this.from = from;
        net = from.net();
        this.staging = staging;
        this.device = device;
        this.windows = windows;
        this.answers = answers;
        this.signals = signals;
    }

    /** Returns what the other rank did wrong; null where the connection or the driver has failed. */
    public @Nullable String problem() {
        return problem;
    }

    /** Tells whether the other rank has ended its part in good order; all that it sent before has been applied. */
    public boolean hasLeft() {
        return farewell == Farewell.APPLIED;
    }

    /** Takes what has come as far as it goes now. */
    public int progress() {
        if (hasLeft()) {
            return 0;
        }
        if (broken == 0) {
            broken = takeRecords(); // first: what it says may be that nothing follows
        }
        if (broken == 0) {
            broken = postRecords();
        }
        int result = 0;
        if (applied < arrived) {
            result = postPayloads();
            if (result == 0) {
                result = takePayloads();
            }
            if (result == 0) {
                result = apply();
            }
        }
        return result != 0 || hasLeft() || applied < arrived ? result : broken;
    }

    private int postRecords() {
        while (posted - applied <= MASK && farewell == Farewell.NONE) {
            long request = net.irecv(
                    from.records(),
                    staging.record(posted),
                    PutRecordLayout.MAX_BYTES,
                    RankConnection.TAG,
                    staging.recordsHandle());
            if (request == NetPlugin.TRY_AGAIN) {
                return 0;
            }
            if (request < 0) {
                return (int) request;
            }
            recordRequests[(int) posted & MASK] = request;
            posted++;
        }
        return 0;
    }

    private int takeRecords() {
        while (arrived < posted && farewell == Farewell.NONE) {
            long bytes = net.test(recordRequests[(int) arrived & MASK]);
            if (bytes == NetPlugin.NOT_DONE) {
                return 0;
            }
            if (bytes < 0) {
                return (int) bytes;
            }
            String objection = RecordCheck.objection(staging.record(arrived), bytes, arrived, windows);
            if (objection != null) {
                return wrong(objection);
            }
            if (PutRecordLayout.kind(staging.record(arrived)) == PutRecordLayout.LEAVING) {
                farewell = Farewell.ARRIVED;
            }
            arrived++;
        }
        return 0;
    }

    private int wrong(String what) {
        problem = what + "; use one version of Trigon on all nodes, and deregister windows after the last put";
        return REMOTE_ERROR;
    }

    // ---- payloads that come as messages of their own

    private int postPayloads() {
        while (payloadOf < arrived) {
            long record = staging.record(payloadOf);
            int slot = (int) payloadOf & MASK;
            int pieceBytes =
                    PutRecordLayout.kind(record) == PutRecordLayout.GET ? 0 : PutRecordLayout.pieceBytes(record);
            if (payloadFrom == 0) {
                if (pieceBytes > 0 && RecordCheck.overlapsEarlier(staging, applied, payloadOf)) {
                    return 0;
                }
                missing[slot] = 0;
                marks[slot] = 0;
            }
            while (pieceBytes > 0 && payloadFrom < PutRecordLayout.size(record)) {
                int result = postPiece(record, slot, pieceBytes);
                if (result <= 0) {
                    return result;
                }
            }
            payloadFrom = 0;
            payloadOf++;
        }
        return 0;
    }

    /** 1; 0: not now; or a failure. */
    private int postPiece(long record, int slot, int pieceBytes) {
        Window window = windows.find(PutRecordLayout.window(record));
        if (window == null) {
            return wrong("memory was deregistered here while data for it came");
        }
        boolean staged = window.isOfDevice();
        if (pieces.isFull() || (staged && !staging.hasPlace())) {
            return 0;
        }
        if (staged && pieceBytes > RankConnection.STAGED_PIECE_BYTES) {
            return wrong("data for a GPU's memory comes in pieces that are too long");
        }
        int size = (int) Math.min(pieceBytes, PutRecordLayout.size(record) - payloadFrom);
        long target = window.address() + PutRecordLayout.offset(record) + payloadFrom;
        // taken only when the receive is posted: a refused one is asked for again
        long address = staged ? staging.nextPlace() : target;
        long handle = staged ? staging.placesHandle() : window.receiveHandle(from.rank());
        long request = net.irecv(from.payloads(), address, size, RankConnection.TAG, handle);
        if (request <= 0) {
            return (int) request;
        }
        if (staged) {
            var _ = staging.takePlace();
        }
        pieces.add(payloadOf, address, target, size, handle, staged);
        pieces.requests[Pieces.slot(pieces.posted)] = request;
        pieces.posted++;
        missing[slot]++;
        payloadFrom += size;
        return 1;
    }

    private int takePayloads() {
        while (pieces.moved < pieces.posted) {
            int slot = Pieces.slot(pieces.moved);
            long bytes = net.test(pieces.requests[slot]);
            if (bytes == NetPlugin.NOT_DONE) {
                break;
            }
            if (bytes < 0) {
                return (int) bytes;
            }
            if (bytes != pieces.sizes[slot]) {
                return wrong("the data's length differs from its record");
            }
            if (pieces.staged[slot]) {
                if (device.copy(pieces.targets[slot], pieces.addresses[slot], bytes) != 0) {
                    return CUDA_ERROR;
                }
                pieces.marks[slot] = device.mark();
            }
            pieces.moved++;
        }
        while (pieces.over < pieces.moved) {
            int slot = Pieces.slot(pieces.over);
            if (pieces.staged[slot]) {
                int isOver = device.isOver(pieces.marks[slot]);
                if (isOver <= 0) {
                    return isOver == 0 ? 0 : CUDA_ERROR;
                }
                staging.givePlace();
            }
            missing[(int) pieces.records[slot] & MASK]--;
            pieces.over++;
        }
        return 0;
    }

    // ---- records that are complete

    private int apply() {
        int result = finish();
        while (result == 0 && begun < payloadOf && missing[(int) begun & MASK] == 0) {
            long record = staging.record(begun);
            boolean touchesDeviceOnly = touchesDeviceOnly(record);
            if (begun > applied && !(overlaps && touchesDeviceOnly)) {
                return 0;
            }
            result = begin(record, (int) begun & MASK);
            if (result != 0) {
                return result > 0 ? 0 : result;
            }
            overlaps = touchesDeviceOnly;
            begun++;
            result = finish();
        }
        return result;
    }

    private boolean touchesDeviceOnly(long record) {
        if (PutRecordLayout.kind(record) != PutRecordLayout.PUT) {
            return false;
        }
        Window window = windows.find(PutRecordLayout.window(record));
        Window signal = windows.find(PutRecordLayout.signalWindow(record));
        return (window == null || window.isOfDevice())
                && (signal == null || (signal.isOfDevice() && signal.keepsTotals()));
    }

    /** 0; 1: not now; or a failure. */
    private int begin(long record, int slot) {
        if (PutRecordLayout.kind(record) == PutRecordLayout.GET) {
            return beginAnswer(record);
        }
        long inline = PutRecordLayout.inlineBytes(record);
        Window window = windows.find(PutRecordLayout.window(record));
        Window signal = windows.find(PutRecordLayout.signalWindow(record));
        boolean signalsDevice = signal != null && signal.isOfDevice();
        if (signal != null && signalsDevice && !signals.isFree(signal)) {
            return 1;
        }
        boolean onDevice = false;
        if (inline > 0) {
            if (window == null) {
                return wrong("memory was deregistered here while data for it came");
            }
            long target = window.address() + PutRecordLayout.offset(record);
            if (!window.isOfDevice()) {
                Memory.copy(PutRecordLayout.payload(record), target, inline);
            } else if (device.copy(target, PutRecordLayout.payload(record), inline) != 0) {
                return CUDA_ERROR;
            } else {
                onDevice = true;
            }
        }
        if (signal != null && signalsDevice) {
            if (signals.begin(signal, PutRecordLayout.signalOffset(record), PutRecordLayout.addend(record)) != 0) {
                return CUDA_ERROR;
            }
            reading = !signal.keepsTotals();
            onDevice = true;
        }
        if (onDevice) {
            marks[slot] = device.mark();
            return marks[slot] < 0 ? CUDA_ERROR : 0;
        }
        return 0;
    }

    private int beginAnswer(long record) {
        Window window = windows.find(PutRecordLayout.window(record));
        Window local = windows.find(PutRecordLayout.answerWindow(record));
        if (window == null || local == null) {
            return wrong("the requested memory is no longer registered here");
        }
        return answers.answer(window, local, record) ? 0 : 1;
    }

    /** Those whose copies are over. */
    private int finish() {
        while (applied < begun) {
            int slot = (int) applied & MASK;
            if (marks[slot] != 0) {
                int isOver = device.isOver(marks[slot]);
                if (isOver <= 0) {
                    return isOver == 0 ? 0 : CUDA_ERROR;
                }
                if (reading) {
                    reading = false;
                    if (signals.goOn() != 0) {
                        return CUDA_ERROR;
                    }
                    marks[slot] = device.mark();
                    continue;
                }
                marks[slot] = 0;
            }
            long record = staging.record(applied);
            Window signal = windows.find(PutRecordLayout.signalWindow(record));
            if (signal != null && !signal.isOfDevice()) {
                var _ = Memory.getAndAddLong(
                        signal.address() + PutRecordLayout.signalOffset(record), PutRecordLayout.addend(record));
            }
            if (PutRecordLayout.kind(record) == PutRecordLayout.FETCHED) {
                answers.answered(PutRecordLayout.request(record));
            }
            if (PutRecordLayout.kind(record) == PutRecordLayout.LEAVING) {
                farewell = Farewell.APPLIED;
            }
            applied++;
        }
        return 0;
    }
}
