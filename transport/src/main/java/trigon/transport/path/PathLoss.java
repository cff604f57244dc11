package trigon.transport.path;

import java.time.Duration;
import java.util.Optional;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.nccl.NcclResult;

/** Why nothing more will come over a path. */
public sealed interface PathLoss {

    /**
     * The peer has gone, or cannot be heard.
     *
     * @param peer who that is
     * @param end how its lifeline ended
     * @param whyDown what is down at this end, which explains a peer that is not heard; empty if nothing is
     */
    record OfPeer(String peer, LifelineEnd end, Optional<String> whyDown) implements PathLoss {

        /** Over a link that is up, as far as is known. */
        public OfPeer(String peer, LifelineEnd end) {
            this(peer, end, Optional.empty());
        }

        /** The same, over a link of which something is down here, or nothing. */
        OfPeer over(Optional<String> down) {
            return new OfPeer(peer, end, down);
        }

        private String explanation() {
            return end instanceof LifelineEnd.Silent(Duration silence) && whyDown.isPresent()
                    ? "lost %s: the peer has been silent for %.1f s, since %s"
                            .formatted(peer, silence.toMillis() / 1000.0, whyDown.get())
                    : "lost %s: %s".formatted(peer, end.explanation());
        }

        /** Tells whether the peer's process, or all of its machine, has said nothing for too long. */
        boolean isSilence() {
            return end instanceof LifelineEnd.Silent || end instanceof LifelineEnd.Stopped;
        }

        /** Tells whether the peer's queue pair is closed by that, as it is not where only this path has failed. */
        boolean hasClosed() {
            return switch (end) {
                case LifelineEnd.Released _, LifelineEnd.Broken _ -> true;
                case LifelineEnd.Failed(EndFailure failure) -> failure.scope() == EndFailure.Scope.COMMUNICATOR;
                case LifelineEnd.Silent _, LifelineEnd.Stopped _, LifelineEnd.Here _ -> false;
            };
        }
    }

    /**
     * This end was given up here.
     *
     * @param result what requests return that are not finished
     * @param failure what the peer is told
     */
    record Here(NcclResult result, EndFailure failure) implements PathLoss {}

    /** One connection's end is given up here. */
    static Here ofConnection(NcclResult result, String why) {
        return new Here(result, new EndFailure(EndFailure.Scope.CONNECTION, why));
    }

    /** For the log, and for whoever asks why a request failed. */
    default String words() {
        return switch (this) {
            case OfPeer lost -> lost.explanation();
            case Here(var _, EndFailure failure) -> failure.words();
        };
    }

    /** Returns what it is to NCCL: the peer's or the network's fault, unless this end was given up. */
    default NcclResult result() {
        return switch (this) {
            case OfPeer _ -> NcclResult.REMOTE_ERROR;
            case Here(NcclResult result, var _) -> result;
        };
    }

    /**
     * The failure of a whole communicator that it follows from, if it does; in the words of the node where that began.
     */
    default Optional<EndFailure> ofCommunicator() {
        Optional<EndFailure> told = switch (this) {
            case OfPeer(var _, LifelineEnd.Failed(EndFailure failure), var _) -> Optional.of(failure);
            case OfPeer _ -> Optional.empty();
            case Here(var _, EndFailure failure) -> Optional.of(failure);
        };
        return told.filter(failure -> failure.scope() == EndFailure.Scope.COMMUNICATOR);
    }
}
