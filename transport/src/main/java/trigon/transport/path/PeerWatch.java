package trigon.transport.path;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import trigon.handshake.EndFailure;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;

/**
 * Who is at the other end of a path, and what tells of its end.
 *
 * @param lifeline of the handshake
 * @param peer the peer's node and its address, for the log
 * @param afterGrace runs what may block, once the peer's last messages and acknowledgements have had time to come
 */
record PeerWatch(Lifeline lifeline, String peer, Executor afterGrace) {

    /** How the lifeline has ended, if it has, and not from here. */
    PathLoss.@Nullable OfPeer loss() {
        LifelineEnd end = lifeline.lost().getNow(null);
        return end == null || end instanceof LifelineEnd.Here ? null : new PathLoss.OfPeer(peer, end);
    }

    /** Tells the peer that this end is unusable; later, where the lifeline may still tell what is the matter. */
    void fail(EndFailure failure, boolean later) {
        if (later) {
            afterGrace.execute(() -> lifeline.fail(failure));
        } else {
            lifeline.fail(failure);
        }
    }
}
