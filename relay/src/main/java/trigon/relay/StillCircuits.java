package trigon.relay;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.kernel.TcpEnds;
import trigon.system.kernel.UnansweredConnections;

/**
 * Finds circuits of no more use. Nothing has moved for a while, and the kernel sends again and again: a neighbour is
 * out of reach. Or one side has ended, and the other neither says anything nor ends: ends take two seconds for that. A
 * circuit whose receiver only does not read is left alone, however long that takes, and so is an idle one; keepalive
 * finds an idle neighbour that has gone. The relay's thread alone.
 */
final class StillCircuits {

    /** From one look to the next. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Looks in succession at which nothing has moved: 20 s, as long as the ends wait by default. */
    private static final int LOOKS = 4;

    /** The kernel has then heard nothing for 12 s. */
    private static final int RETRANSMITS = 6;

    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    private final Table table;
    private long lastLook;

    /** The kernel's connections. */
    interface Table {

        /** Connections whose last segment was sent again so many times, or more. */
        Set<TcpEnds> unanswered(int retransmits) throws IOException;

        /** Connections with something to send, or sent, that has not been acknowledged. */
        Set<TcpEnds> unacknowledged() throws IOException;
    }

    /** The table of this machine. */
    static final Table KERNEL = new Table() {

        @Override
        public Set<TcpEnds> unanswered(int retransmits) throws IOException {
            return UnansweredConnections.read(retransmits);
        }

        @Override
        public Set<TcpEnds> unacknowledged() throws IOException {
            return UnansweredConnections.readUnacknowledged();
        }
    };

    /** A relay without circuits, at that time by its clock. */
    StillCircuits(Table table, long now) {
        this.table = table;
        lastLook = now;
    }

    /** Ends circuits of no more use, if a look is due. */
    void look(Collection<Circuit> circuits, long now) {
        if (now - lastLook < LOOK_NANOS) {
            return;
        }
        lastLook = now;
        List<Circuit> still = new ArrayList<>();
        for (Circuit circuit : circuits) {
            if (circuit.splicedNow().countStillLooks() >= LOOKS) {
                still.add(circuit);
            }
        }
        if (!still.isEmpty()) {
            endStuck(still);
        }
    }

    private void endStuck(List<Circuit> still) {
        try {
            Set<TcpEnds> unanswered = table.unanswered(RETRANSMITS);
            Set<TcpEnds> unacknowledged = table.unacknowledged();
            for (Circuit circuit : still) {
                circuit.endIfStuck(unanswered, unacknowledged);
            }
        } catch (IOException | RuntimeException e) { // the kernel gives up by itself, later
            log.debug("the kernel's connections cannot be read", e);
        }
    }
}
