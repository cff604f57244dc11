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

/**
 * Finds circuits with a neighbour that cannot be reached any more: nothing has moved for a while, and the kernel sends
 * again and again. A circuit whose receiver only does not read is left alone, however long that takes; keepalive finds
 * an idle neighbour that has gone. The relay's thread alone.
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
    }

    /** A relay without circuits, at that time by its clock. */
    StillCircuits(Table table, long now) {
        this.table = table;
        lastLook = now;
    }

    /** Ends circuits whose neighbour is out of reach, if a look is due. */
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
            endUnanswered(still);
        }
    }

    private void endUnanswered(List<Circuit> still) {
        try {
            Set<TcpEnds> unanswered = table.unanswered(RETRANSMITS);
            for (Circuit circuit : still) {
                circuit.endIfUnanswered(unanswered);
            }
        } catch (IOException | RuntimeException e) { // the kernel gives up by itself, later
            log.debug("the kernel's connections cannot be read", e);
        }
    }
}
