package trigon.software;

import java.util.ArrayList;
import java.util.List;

/**
 * The lanes of a requester: opened with the first message that is long enough, and used once the peer has taken them.
 * Used under the queue pair's lock.
 */
final class Lanes {

    private final SoftwareQueuePair queuePair;
    private final LaneSettings settings;
    private final List<OutgoingLane> ready = new ArrayList<>();
    private final List<LaneOpening> openings = new ArrayList<>();
    private boolean opened;
    private boolean lastWentInPieces;
    private int next;

    Lanes(SoftwareQueuePair queuePair) {
        this.queuePair = queuePair;
        settings = queuePair.context().laneWorkers().settings();
    }

    /** Whether messages of that length are sent in pieces. */
    boolean take(int length) {
        return length >= settings.fromBytes() && settings.workers() > 0;
    }

    boolean areReady() {
        return !ready.isEmpty();
    }

    /** Has them opened, once, if they have not been. */
    void open(int firstPsn) {
        if (opened) {
            return;
        }
        opened = true;
        for (int i = 1; i <= settings.perQueuePair(); i++) {
            LaneOpening opening = new LaneOpening(queuePair, this, i, firstPsn);
            openings.add(opening);
            opening.start();
        }
    }

    void add(LaneOpening opening, OutgoingLane lane) {
        openings.remove(opening);
        ready.add(lane);
    }

    void failed(LaneOpening opening) {
        openings.remove(opening);
    }

    /** Sends a message in pieces; they end where a line of {@link OrderedCopy#LINE} of the destination does. */
    void send(int psn, SoftwareMemoryRegion region, long localAddress, int length, long remoteAddress, int remoteKey) {
        int most = Math.min(ready.size(), Math.max(1, length / settings.pieceBytes()));
        int size = Math.ceilDiv(length, most);
        int sent = 0;
        lastWentInPieces = true;
        while (sent < length) {
            long end = remoteAddress + sent + size;
            int toLine = (int) (-end & (OrderedCopy.LINE - 1));
            int piece = Math.min(size + toLine, length - sent);
            ready.get(next).offer(psn, region, localAddress + sent, piece, remoteAddress + sent, remoteKey, length);
            next = (next + 1) % ready.size();
            sent += piece;
        }
    }

    /** If the last message went in pieces, the next one may: the workers had better be awake. */
    void expectMessage() {
        if (lastWentInPieces) {
            for (int i = 0; i < ready.size(); i++) {
                ready.get(i).worker().wake();
            }
        }
    }

    /** A message goes on the queue pair's own connection. */
    void passedBy() {
        lastWentInPieces = false;
    }

    /** How much they have sent. */
    long bytes() {
        long sum = 0;
        for (int i = 0; i < ready.size(); i++) {
            sum += ready.get(i).bytes();
        }
        return sum;
    }

    /** Whether one of the connections has ended. */
    boolean areBroken() {
        for (int i = 0; i < ready.size(); i++) {
            if (ready.get(i).isBroken()) {
                return true;
            }
        }
        return false;
    }

    /** The message whose source was deregistered while it was sent; -1 if there is none. */
    int lostPsn() {
        int lost = -1;
        for (int i = 0; i < ready.size() && lost < 0; i++) {
            lost = ready.get(i).lostPsn();
        }
        return lost;
    }

    /** Closes all; none of them touches memory any more. */
    void stop() {
        List<LaneOpening> unfinished = List.copyOf(openings);
        openings.clear();
        unfinished.forEach(LaneOpening::giveUp);
        for (OutgoingLane lane : ready) {
            lane.worker().remove(lane);
        }
        ready.clear();
        opened = false;
        next = 0;
    }
}
