package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.onesided.memory.Window;
import trigon.system.Memory;

/**
 * This rank's traffic to another one: operations in their order, each a record and its payload. A payload of a GPU's
 * memory is staged ahead of its turn.
 *
 * <p>Data path: its group's thread's. Calls return 0, or a negative failure after which nothing may be called.
 */
public final class Outgoing {

    /** Operations that NCCL may have under way; as many answers may be beside them. */
    private static final int MAX = 1024;

    private static final int RING = 2 * MAX;
    private static final int INTERNAL_ERROR = -NcclResult.INTERNAL_ERROR.code();
    private static final int CUDA_ERROR = -NcclResult.UNHANDLED_CUDA_ERROR.code();

    private final RankConnection to;
    private final NetPlugin net;
    private final Staging staging;
    private final GpuMemory device;
    private final RequestPool requests;
    private final Operation[] ring = new Operation[RING];
    private final long[] recordRequests = new long[RankConnection.MAX_MESSAGES];
    private final Pieces pieces = new Pieces();

    /** Counted as the records: added, prepared, sent, gone; and what all messages of have gone. */
    private long added;

    private long prepared;
    private long sent;
    private long gone;
    private long over;

    /** The operation whose payload is to be prepared next, and from where on. */
    private long payloadOf;

    private long payloadFrom;

    /** NCCL's requests that are not finished. */
    private int unfinished;

    /** Nothing is to be sent yet. */
    public Outgoing(RankConnection to, Staging staging, GpuMemory device, RequestPool requests) {
        this.to = to;
        net = to.net();
        this.staging = staging;
        this.device = device;
        this.requests = requests;
        for (int i = 0; i < RING; i++) {
            ring[i] = new Operation();
        }
    }

    // ---- what is to be sent

    /**
     * Data for a window, and an addition to a signal.
     *
     * @param request is finished when the data may change
     * @return false: too much is under way
     */
    public boolean put(Transfer put, long request) {
        Operation operation = next();
        if (operation == null) {
            return false;
        }
        Window target = put.target();
        Window signal = put.signal();
        operation.begin(PutRecordLayout.PUT);
        if (target != null) {
            operation.window = target.id();
        }
        operation.offset = put.targetOffset();
        if (signal != null) {
            operation.signalWindow = signal.id();
        }
        operation.signalOffset = put.signalOffset();
        operation.addend = put.addend();
        operation.request = request;
        operation.size = put.size();
        addWith(operation, put.source(), put.sourceOffset(), target != null && target.isOfDeviceAt(to.rank()));
        unfinished++;
        return true;
    }

    /**
     * Asks for data.
     *
     * @param get its source is the other rank's, its target this one's
     * @param request is finished by {@link #answered}
     * @return false: too much is under way
     */
    public boolean get(Transfer get, long request) {
        Operation operation = next();
        Window source = get.source();
        Window target = get.target();
        if (operation == null || source == null || target == null) {
            return false;
        }
        operation.begin(PutRecordLayout.GET);
        operation.window = source.id();
        operation.offset = get.sourceOffset();
        operation.asked = request;
        operation.answerWindow = target.id();
        operation.answerOffset = get.targetOffset();
        operation.size = get.size();
        add(operation);
        unfinished++;
        return true;
    }

    void answered(long request) {
        unfinished--;
        requests.finish(request);
    }

    /**
     * Answers the other rank, which has few enough requests that there is room.
     *
     * @param source what it asks for
     * @param local this rank's part of the window that it is for
     * @param record by which it asks
     * @return false: it has too many
     */
    boolean answer(Window source, Window local, long record) {
        if (added - over >= RING) {
            return false;
        }
        Operation operation = ring[(int) added & (RING - 1)];
        operation.begin(PutRecordLayout.FETCHED);
        operation.asked = PutRecordLayout.request(record);
        operation.answerWindow = local.id();
        operation.answerOffset = PutRecordLayout.answerOffset(record);
        operation.window = operation.answerWindow;
        operation.offset = operation.answerOffset;
        operation.size = PutRecordLayout.size(record);
        addWith(operation, source, PutRecordLayout.offset(record), local.isOfDeviceAt(to.rank()));
        return true;
    }

    /** The last record. False: the other rank is not told, for NCCL has not had all of its requests. */
    public boolean leave() {
        Operation operation = next();
        if (unfinished > 0 || operation == null) {
            return false;
        }
        operation.begin(PutRecordLayout.LEAVING);
        add(operation);
        return true;
    }

    private @Nullable Operation next() {
        return unfinished >= MAX || added - over >= RING ? null : ring[(int) added & (RING - 1)];
    }

    /** With a payload, unless there is none. */
    private void addWith(Operation operation, @Nullable Window source, long sourceOffset, boolean targetIsStaged) {
        operation.source = source;
        operation.sourceOffset = sourceOffset;
        if (source != null && operation.size > PutRecordLayout.INLINE_BYTES) {
            int pieceBytes = targetIsStaged || source.isOfDevice()
                    ? RankConnection.STAGED_PIECE_BYTES
                    : RankConnection.PIECE_BYTES;
            operation.pieceBytes = pieceBytes;
            operation.remaining += (int) ((operation.size + pieceBytes - 1) / pieceBytes);
        }
        add(operation);
    }

    private void add(Operation operation) {
        operation.remaining++; // the record
        added++;
    }

    private Operation operation(long number) {
        return ring[(int) number & (RING - 1)];
    }

    // ---- how it is sent

    public boolean isIdle() {
        return over == added;
    }

    /** Tells whether all has gone, and the other rank has not answered what it was asked for. */
    public boolean awaitsAnswers() {
        return unfinished > 0 && isIdle();
    }

    /** Sends what can be sent, and takes note of what has gone. */
    public int progress() {
        if (over == added) {
            return 0;
        }
        int result = takeGone();
        if (result == 0) {
            result = prepareRecords();
        }
        if (result == 0) {
            result = sendRecords();
        }
        if (result == 0 && (payloadOf < sent || pieces.over < pieces.prepared)) {
            result = preparePieces();
            if (result == 0) {
                result = sendPieces();
            }
        }
        return result;
    }

    private int takeGone() {
        while (gone < sent) {
            long size = net.test(recordRequests[(int) gone & (RankConnection.MAX_MESSAGES - 1)]);
            if (size == NetPlugin.NOT_DONE) {
                break;
            }
            if (size < 0) {
                return (int) size;
            }
            oneHasGone(gone++);
        }
        while (pieces.over < pieces.posted) {
            int slot = Pieces.slot(pieces.over);
            long size = net.test(pieces.requests[slot]);
            if (size == NetPlugin.NOT_DONE) {
                break;
            }
            if (size < 0) {
                return (int) size;
            }
            if (pieces.staged[slot]) {
                staging.givePlace();
            }
            pieces.over++;
            oneHasGone(pieces.records[slot]);
        }
        while (over < gone && operation(over).remaining == 0) {
            over++;
        }
        return 0;
    }

    private void oneHasGone(long number) {
        Operation operation = operation(number);
        operation.remaining--;
        if (operation.remaining == 0 && operation.kind == PutRecordLayout.PUT) {
            unfinished--;
            requests.finish(operation.request);
        }
    }

    private int prepareRecords() {
        while (prepared < added && prepared - gone < RankConnection.MAX_MESSAGES) {
            Operation operation = operation(prepared);
            long record = staging.record(prepared);
            PutRecordLayout.begin(record, operation.kind, prepared);
            PutRecordLayout.place(record, operation.window, operation.offset, operation.size, operation.pieceBytes);
            if (operation.signalWindow != PutRecordLayout.NO_WINDOW) {
                PutRecordLayout.signal(record, operation.signalWindow, operation.signalOffset, operation.addend);
            }
            if (operation.asked != 0) {
                PutRecordLayout.answer(record, operation.asked, operation.answerWindow, operation.answerOffset);
            }
            if (operation.source != null && operation.pieceBytes == 0) {
                int result = copyPayload(operation, operation.source, record);
                if (result != 0) {
                    return result;
                }
            }
            prepared++;
        }
        return 0;
    }

    private int copyPayload(Operation operation, Window source, long record) {
        long from = source.address() + operation.sourceOffset;
        if (!source.isOfDevice()) {
            Memory.copy(from, PutRecordLayout.payload(record), operation.size);
            return 0;
        }
        if (device.copy(PutRecordLayout.payload(record), from, operation.size) != 0) {
            return CUDA_ERROR;
        }
        operation.mark = device.mark();
        return operation.mark < 0 ? CUDA_ERROR : 0;
    }

    private int sendRecords() {
        while (sent < prepared) {
            Operation operation = operation(sent);
            if (operation.mark != 0) {
                int isOver = device.isOver(operation.mark);
                if (isOver <= 0) {
                    return isOver == 0 ? 0 : CUDA_ERROR;
                }
                operation.mark = 0;
            }
            long record = staging.record(sent);
            int bytes = PutRecordLayout.HEADER_BYTES + (int) PutRecordLayout.inlineBytes(record);
            long request = net.isend(to.records(), record, bytes, RankConnection.TAG, staging.recordsHandle());
            if (request == NetPlugin.TRY_AGAIN) {
                return 0;
            }
            if (request < 0) {
                return (int) request;
            }
            recordRequests[(int) sent & (RankConnection.MAX_MESSAGES - 1)] = request;
            sent++;
        }
        return 0;
    }

    private int preparePieces() {
        while (payloadOf < sent && !pieces.isFull()) {
            Operation operation = operation(payloadOf);
            Window source = operation.source;
            if (source == null || operation.pieceBytes == 0) {
                payloadOf++;
                continue;
            }
            boolean staged = source.isOfDevice();
            if (staged && !staging.hasPlace()) {
                return 0;
            }
            int size = (int) Math.min(operation.pieceBytes, operation.size - payloadFrom);
            long from = source.address() + operation.sourceOffset + payloadFrom;
            long handle = staged ? staging.placesHandle() : source.sendHandle(to.rank());
            if (handle == 0) {
                return INTERNAL_ERROR;
            }
            long place = staged ? staging.takePlace() : from;
            int slot = Pieces.slot(pieces.prepared);
            pieces.add(payloadOf, place, 0, size, handle, staged);
            if (staged) {
                if (device.copy(place, from, size) != 0) {
                    return CUDA_ERROR;
                }
                pieces.marks[slot] = device.mark();
                if (pieces.marks[slot] < 0) {
                    return CUDA_ERROR;
                }
            }
            payloadFrom += size;
            if (payloadFrom == operation.size) {
                payloadOf++;
                payloadFrom = 0;
            }
        }
        return 0;
    }

    private int sendPieces() {
        while (pieces.posted < pieces.prepared) {
            int slot = Pieces.slot(pieces.posted);
            if (pieces.marks[slot] != 0) {
                int isOver = device.isOver(pieces.marks[slot]);
                if (isOver <= 0) {
                    return isOver == 0 ? 0 : CUDA_ERROR;
                }
                pieces.marks[slot] = 0;
            }
            long request = net.isend(
                    to.payloads(),
                    pieces.addresses[slot],
                    pieces.sizes[slot],
                    RankConnection.TAG,
                    pieces.handles[slot]);
            if (request == NetPlugin.TRY_AGAIN) {
                return 0;
            }
            if (request < 0) {
                return (int) request;
            }
            pieces.requests[slot] = request;
            pieces.posted++;
        }
        return 0;
    }
}
