package trigon.software.lanes;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.software.LaneSettings;
import trigon.software.connection.LocalQueuePair;
import trigon.software.memory.OrderedCopy;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.wire.WireFormat;

/**
 * The lanes of a requester: opened with the first message that is long enough, and used once the peer has taken them.
 * Used under the queue pair's lock.
 */
public final class OutgoingLanes {

    private final LocalQueuePair queuePair;
    private final LaneWorkers workers;
    private final LaneSettings settings;
    private final List<OutgoingLane> ready = new ArrayList<>(); // by their numbers
    private final List<PendingLane> pending = new ArrayList<>();
    private final SentPieces sent = new SentPieces();
    private boolean opened;

    /** None yet. */
    public OutgoingLanes(LocalQueuePair queuePair, LaneWorkers workers) {
        this.queuePair = queuePair;
        this.workers = workers;
        settings = workers.settings();
    }

    /** Whether messages of that length are sent in pieces. */
    public boolean areFor(int length) {
        return length >= settings.cut().fromBytes() && settings.areUsed();
    }

    /** Whether the peer has taken one of them. */
    public boolean areReady() {
        return !ready.isEmpty();
    }

    /** Has them opened, once, if they have not been. */
    public void open(int firstPsn) {
        if (opened) {
            return;
        }
        opened = true;
        for (int i = 1; i <= settings.perQueuePair(); i++) {
            PendingLane lane = new PendingLane(queuePair, workers, this, sent, i, firstPsn);
            pending.add(lane);
            lane.start();
        }
    }

    void add(PendingLane established, OutgoingLane lane) {
        pending.remove(established);
        int place = 0;
        while (place < ready.size() && ready.get(place).number() < lane.number()) {
            place++;
        }
        ready.add(place, lane);
        if (ready.size() == 1) {
            workers.addSenders(1);
        }
    }

    /** Undoes {@link #add}: nothing has been sent on it. */
    void takeBack(OutgoingLane lane) {
        ready.remove(lane);
        if (ready.isEmpty()) {
            workers.addSenders(-1);
        }
    }

    void failed(PendingLane lane) {
        pending.remove(lane);
    }

    /**
     * Sends a SEND in pieces; they end where a line of {@link OrderedCopy#LINE} of the message does.
     *
     * @param region where the message lies; null if it is empty
     * @param opcode with what is added to it
     * @param receiveNumber how many messages before it have taken a receive
     */
    public void send(
            @Nullable SoftwareMemoryRegion region,
            long localAddress,
            int opcode,
            int psn,
            int receiveNumber,
            int length,
            int immediate) {
        int most = Math.min(ready.size(), settings.cut().pieces(length, workers.senders()));
        int size = Math.ceilDiv(Math.ceilDiv(length, most), OrderedCopy.LINE) * OrderedCopy.LINE;
        int lane = 0;
        int offset = 0;
        do {
            int piece = Math.min(size, length - offset);
            ready.get(lane++).offer(region, localAddress, opcode, psn, receiveNumber, piece, offset, length, immediate);
            offset += piece;
        } while (offset < length);
    }

    /** Whether all of a message has been given to the sockets. */
    public boolean haveSent(int psn, int length) {
        return sent.of(psn) == WireFormat.weight(length);
    }

    /** A message that went in pieces is complete. */
    public void forget(int psn) {
        sent.clear(psn);
    }

    /** How much they have sent. */
    public long bytes() {
        long sum = 0;
        for (int i = 0; i < ready.size(); i++) {
            sum += ready.get(i).bytes();
        }
        return sum;
    }

    /** Whether one of the connections has ended. */
    public boolean areBroken() {
        for (int i = 0; i < ready.size(); i++) {
            if (ready.get(i).isBroken()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the source of a message was deregistered while it was sent. */
    public boolean haveLost(int psn) {
        for (int i = 0; i < ready.size(); i++) {
            if (ready.get(i).lostPsn() == psn) {
                return true;
            }
        }
        return false;
    }

    /** Closes all; none of them touches memory any more. */
    public void stop() {
        List<PendingLane> unfinished = List.copyOf(pending);
        pending.clear();
        unfinished.forEach(PendingLane::giveUp);
        for (OutgoingLane lane : ready) {
            lane.close();
        }
        if (!ready.isEmpty()) {
            ready.clear();
            workers.addSenders(-1);
        }
        sent.clearAll();
        opened = false;
    }
}
