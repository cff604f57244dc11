package trigon.transport.path;

import java.net.InetAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.nccl.NcclResult;
import trigon.verbs.QueuePair;

/**
 * The peer at the other end of a path, and what tells of its end.
 *
 * @param lifeline of the handshake
 * @param peer the peer's node and its address, for the log
 * @param address of the handshake's TCP connection there
 * @param afterGrace runs what may block, once the peer's last messages and acknowledgements have had time to come
 */
record PeerWatch(Lifeline lifeline, String peer, InetAddress address, Executor afterGrace) {

    private static final Logger log = LoggerFactory.getLogger(PeerWatch.class);

    /** The end of a path that hears of the lifeline's end. */
    interface Watched {

        PathKeeper keeper();

        /** The queue pair, which stops acknowledging once the peer has gone. */
        QueuePair queuePair();

        /** The peer has gone. May block. */
        void peerIsGone(PathLoss.OfPeer lost);

        /** This end is of no use any more. */
        boolean giveUp(NcclResult result, EndFailure failure);
    }

    /** Returns how the lifeline has ended, if it has, and not from here. */
    PathLoss.@Nullable OfPeer loss() {
        LifelineEnd end = lifeline.lost().getNow(null);
        return end == null || end instanceof LifelineEnd.Here ? null : new PathLoss.OfPeer(peer, end);
    }

    /**
     * Has the path hear of the lifeline's end, unless it was ended here: at once, where somebody looks after the path
     * or the peer is silent; else once its last acknowledgements have come, which come another way.
     *
     * @param atOnce runs what may block
     */
    void whenOver(Watched path, Executor atOnce) {
        var _ = lifeline.lost().thenAccept(end -> {
            PathLoss.OfPeer lost = new PathLoss.OfPeer(peer, end);
            if (lost.hasClosed()) {
                path.queuePair().stopAcknowledging();
            }
            try {
                if (end instanceof LifelineEnd.Here || path.keeper().takeOver(lost)) {
                    return;
                }
                Executor then = lost.isSilence() ? atOnce : afterGrace;
                then.execute(() -> path.peerIsGone(lost));
            } catch (RuntimeException | Error e) { // nobody else hears of it, and the path would never be lost
                log.error("{}: {}, and handling it failed", path, lost.words(), e);
                path.giveUp(
                        NcclResult.SYSTEM_ERROR,
                        new EndFailure(EndFailure.Scope.CONNECTION, "%s; then %s".formatted(lost.words(), e)));
            }
        });
    }

    /** Tells the peer that this end is unusable; later, where the lifeline may still tell what is the matter. */
    void fail(EndFailure failure, boolean later) {
        if (!later) {
            lifeline.fail(failure);
            return;
        }
        try {
            afterGrace.execute(() -> lifeline.fail(failure));
        } catch (RejectedExecutionException e) { // on the data path, perhaps
            log.debug("{}: the plugin is closed, and its lifelines with it", peer, e);
        }
    }
}
