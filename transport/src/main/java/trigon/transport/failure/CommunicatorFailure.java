package trigon.transport.failure;

import trigon.handshake.message.EndFailure;
import trigon.nccl.NcclResult;
import trigon.transport.session.SessionFailure;

/**
 * NCCL was told of a failure in a communicator, here or, as its peers are told, on another node.
 *
 * @param result what the communicator's sessions return from now on
 * @param why for the log and the peers
 * @param thread the one that NCCL was told on, by its identifier
 */
public record CommunicatorFailure(NcclResult result, EndFailure why, long thread) {

    /**
     * Makes a failure of this node's, unless it follows from another one's: then it is that one's, in its words, so
     * that however many nodes they go through, who reads them learns where it began.
     *
     * @param commId NCCL's hash of the communicator
     * @param node this node's name
     * @param failure what NCCL was told of
     */
    static CommunicatorFailure of(long commId, String node, SessionFailure failure, long thread) {
        EndFailure why = failure.ofCommunicator()
                .orElseGet(() -> new EndFailure(
                        EndFailure.Scope.COMMUNICATOR,
                        "communicator 0x%s has failed on %s, by %s"
                                .formatted(Long.toHexString(commId), node, failure.explained())));
        return new CommunicatorFailure(failure.result(), why, thread);
    }
}
