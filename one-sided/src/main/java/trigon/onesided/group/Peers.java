package trigon.onesided.group;

import java.util.List;
import trigon.onesided.peer.Incoming;
import trigon.onesided.peer.Outgoing;

/**
 * A rank's ends to all others, in the order of their ranks.
 *
 * @param rank this one, which has no end
 */
record Peers(int rank, List<Outgoing> outgoing, List<Incoming> incoming) {}
