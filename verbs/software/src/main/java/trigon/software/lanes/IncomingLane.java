package trigon.software.lanes;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.LocalQueuePair;
import trigon.software.connection.StreamReader;
import trigon.software.memory.OrderedCopy;
import trigon.software.memory.PayloadWindows;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.ReceiveQueue;
import trigon.software.wire.DeviceLimits;
import trigon.software.wire.WireFormat;
import trigon.verbs.WorkCompletionStatus;

/**
 * A connection on which pieces of a queue pair's messages arrive. A piece whose receive is not posted yet stalls the
 * lane, and TCP holds the sender back. Used during its worker's iterations.
 */
final class IncomingLane extends StreamReader {

    private final LocalQueuePair queuePair;
    private final int number;
    private final LaneHost worker;
    private final ReceiveQueue receives;
    private final IncomingPieces pieces;
    private final OrderedCopy copy = new OrderedCopy();
    private final PayloadWindows windows = new PayloadWindows();

    private static final Logger log = LoggerFactory.getLogger(IncomingLane.class);
    private static final int NONE = -1;

    /**
     * PSN of the message whose receive it waits for, or {@link #NONE}. The posting thread looks, and wakes the
     * worker.
     */
    private volatile int stalledPsn = NONE;

    private int opcode;
    private int psn;
    private int receiveNumber;
    private int length;
    private int offset;
    private int messageLength;
    private int immediate;
    private long index;
    private @Nullable SoftwareMemoryRegion target;

    IncomingLane(
            SocketChannel channel,
            int number,
            LocalQueuePair queuePair,
            LaneHost worker,
            ReceiveQueue receives,
            IncomingPieces pieces) {
        super(channel, WireFormat.PIECE_BYTES, worker.receiveBuffer(), Sharing.UNTIL_PAUSED);
        this.number = number;
        this.queuePair = queuePair;
        this.worker = worker;
        this.receives = receives;
        this.pieces = pieces;
    }

    /** Whether it is the one that brings something of every message. */
    boolean isFirst() {
        return number == 1;
    }

    /** Its worker receives no more on it, and the socket is closed. Any thread. */
    void close() {
        worker.remove(this);
    }

    /** There may be something to be received. Any thread. */
    void wakeWorker() {
        worker.wake();
    }

    /** Whether it waits for a receive. */
    boolean isStalled() {
        return stalledPsn != NONE;
    }

    /** Whether the message with that PSN, or a part of it, may still come: what comes after a later one is later. */
    boolean mayBring(int wantedPsn) {
        int waitsWith = stalledPsn;
        return !isEnded() && (waitsWith == NONE || waitsWith == wantedPsn);
    }

    @Override
    protected void onHeader(long at) {
        opcode = WireFormat.pieceOpcode(at);
        psn = WireFormat.piecePsn(at) & WireFormat.PSN_MASK;
        receiveNumber = WireFormat.pieceReceiveNumber(at);
        length = WireFormat.pieceLength(at);
        offset = WireFormat.pieceOffset(at);
        messageLength = WireFormat.pieceMessageLength(at);
        immediate = WireFormat.pieceImmediate(at);
        boolean isSome = length > 0 || (length == 0 && messageLength == 0);
        boolean fits = isSome && offset >= 0 && length <= messageLength && offset <= messageLength - length;
        boolean sends = WireFormat.isSend(WireFormat.plainOpcode(opcode));
        if (!fits || !sends || messageLength > DeviceLimits.MAX_MESSAGE_BYTES) {
            abort("no such piece can be");
        } else if (!findReceive() && !isEnded()) {
            stalledPsn = psn;
            pause();
            worker.stalled(this);
        }
    }

    /** False if the receive is not there; the lane has ended if it can never be. */
    private boolean findReceive() {
        index = pieces.find(receiveNumber);
        if (index == IncomingPieces.TAKEN && pieces.haveBeenRefused()) {
            end("a message was refused, and the queue pair fails");
        } else if (index == IncomingPieces.TAKEN) {
            abort("its receive is complete already");
        }
        if (index < 0) {
            return false;
        }
        if (messageLength > receives.length(index)) {
            refuse(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
        } else if (length == 0) {
            finishPiece();
        } else {
            long address = receives.localAddress(index);
            target = queuePair.memory().local(receives.localKey(index), address, messageLength, true);
            if (target == null) {
                refuse(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            } else {
                copy.start(address + offset, length);
            }
        }
        expectPayload(length);
        return true;
    }

    /**
     * The peer broke the protocol, or this end has a defect: the peer's queue pair fails, and somebody is to know
     * why.
     */
    private void abort(String reason) {
        log.warn(
                "Lane {} of {} ends: {} (opcode 0x{}, psn {}, receive {}, {} bytes from {} of {})",
                number,
                queuePair,
                reason,
                Integer.toHexString(opcode),
                psn,
                receiveNumber,
                length,
                offset,
                messageLength);
        fail("it broke the protocol");
    }

    /**
     * Ends it before its peer has said that it is done, and the queue pair with it: its peer may have nothing to say
     * there that would show it the end.
     */
    void fail(String reason) {
        end(reason);
        pieces.lose();
        worker.tell(queuePair);
    }

    /** Whether {@link #goOn} would. */
    boolean canGoOn() {
        return pieces.find(receiveNumber) != IncomingPieces.NOT_POSTED;
    }

    /** Goes on if its receive has been posted; false if not. */
    boolean goOn() {
        if (!findReceive()) {
            return isEnded();
        }
        stalledPsn = NONE;
        resume();
        return true;
    }

    /** Has its queue pair know, if it has ended. */
    void tellEnd() {
        if (isEnded()) {
            queuePair.onBroken();
        }
    }

    private void refuse(WorkCompletionStatus status) {
        target = null;
        pieces.refuse(index, opcode, psn, status);
        worker.tell(queuePair);
    }

    @Override
    protected void onPayload(long at, int bytes, boolean last) {
        SoftwareMemoryRegion region = target;
        if (region == null) {
            return;
        }
        if (!region.isOpen()) {
            refuse(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        copy.accept(at, bytes);
        if (last) {
            finishPiece();
        }
    }

    @Override
    @Nullable
    protected ByteBuffer inPlace(int bytes) {
        SoftwareMemoryRegion region = target;
        return region == null || !region.isOpen()
                ? null
                : windows.of(region, copy.next(), Math.min(bytes, OutgoingLane.MAX_WRITE_BYTES));
    }

    @Override
    protected void onPayloadInPlace(int bytes, boolean last) {
        copy.skip(bytes);
        if (last) {
            finishPiece();
        }
    }

    private void finishPiece() {
        target = null;
        if (pieces.add(index, opcode, psn, immediate, length, messageLength)) {
            worker.tell(queuePair);
        }
    }

    @Override
    protected void onClosed() {
        target = null;
        stalledPsn = NONE;
    }
}
