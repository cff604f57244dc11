package trigon.software;

import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import trigon.verbs.AccessFlag;

/** A connection on which pieces of a queue pair's messages arrive. Used during its worker's turns. */
final class IncomingLane extends StreamReader {

    private final SoftwareQueuePair queuePair;
    private final LaneWorker worker;
    private final PieceCounts counts;
    private final OrderedCopy copy = new OrderedCopy();

    private int psn;
    private int length;
    private int messageLength;
    private @Nullable SoftwareMemoryRegion target;

    IncomingLane(SocketChannel channel, SoftwareQueuePair queuePair, LaneWorker worker, PieceCounts counts) {
        super(channel, WireFormat.PIECE_BYTES, worker.receiveBuffer(), false);
        this.queuePair = queuePair;
        this.worker = worker;
        this.counts = counts;
    }

    LaneWorker worker() {
        return worker;
    }

    @Override
    void onHeader(long at) {
        psn = WireFormat.piecePsn(at);
        length = WireFormat.pieceLength(at);
        messageLength = WireFormat.pieceMessageLength(at);
        if (length < 1 || messageLength < length || messageLength > SoftwareDeviceContext.MAX_MESSAGE_BYTES) {
            end("it broke the protocol");
            return;
        }
        long address = WireFormat.pieceAddress(at);
        target = queuePair
                .memoryRegions()
                .remote(
                        queuePair.protectionDomain(),
                        WireFormat.pieceKey(at),
                        address,
                        length,
                        AccessFlag.REMOTE_WRITE);
        copy.start(address, length);
        expectPayload(length);
    }

    @Override
    void onPayload(long at, int bytes, boolean last) {
        SoftwareMemoryRegion region = target;
        if (region != null && region.isOpen() && queuePair.allows(AccessFlag.REMOTE_WRITE)) {
            copy.accept(at, bytes);
        } else if (region != null || last) {
            target = null;
            counts.refuse(psn);
            worker.tell(queuePair);
        }
        if (last && target != null) {
            target = null;
            if (counts.add(psn, length) == messageLength) {
                worker.tell(queuePair);
            }
        }
    }

    @Override
    void onClosed() {
        target = null;
    }
}
