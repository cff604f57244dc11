package trigon.transport.session;

import java.util.Optional;
import trigon.handshake.message.EndFailure;
import trigon.nccl.NcclResult;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;

/**
 * Why a session is unusable.
 *
 * @param on the path that has failed
 * @param result what calls return since
 * @param what happened, as far as it was known then
 */
public record SessionFailure(PathChannel on, NcclResult result, String what) {

    /** The failure of a communicator, here or on another node, that it follows from, by what is known now. */
    public Optional<EndFailure> ofCommunicator() {
        PathLoss loss = on.loss() != null ? on.loss() : on.failedRequests().laterLoss();
        return loss == null ? Optional.empty() : loss.ofCommunicator();
    }

    /** Returns where and why, by what is known now. */
    public String explained() {
        PathLoss later = on.failedRequests().laterLoss();
        return on + ": " + (later == null ? what : later.words());
    }
}
