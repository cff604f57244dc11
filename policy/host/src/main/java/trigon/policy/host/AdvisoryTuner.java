package trigon.policy.host;

import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.policy.PolicyHost;
import trigon.policy.VerifiedPolicy;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.VerifiedProgram;

/**
 * A tuner that is not shown to decide alike on all ranks. Several ranks go by it only where they have agreed on a table
 * of its decisions first; where they cannot, NCCL decides on each of them, and the log says why.
 */
final class AdvisoryTuner {

    private static final Logger log = LoggerFactory.getLogger(AdvisoryTuner.class);

    private final PolicyHost host;
    private final Agreement agreement;

    /**
     * The tuner of this process.
     *
     * @param host its program, on the maps of the process
     */
    AdvisoryTuner(PolicyHost host, Agreement agreement) {
        this.host = host;
        this.agreement = agreement;
    }

    /** Has the ranks of a communicator agree on a table; empty on all of them if NCCL decides. Blocks. */
    Optional<DecisionTable> agree(PolicyCommunicator communicator, VerifiedPolicy version) {
        if (version.program(ProgramType.CHUNK).filter(VerifiedProgram::advisory).isPresent()) {
            return refuse(communicator, version, "there is no way to agree on chunks; put chunk/advisory into chunk");
        }
        if (communicator.nodes() > 1) {
            return refuse(
                    communicator,
                    version,
                    "ranks of several nodes have no way to agree before they decide;"
                            + " measure first, and decide by the same file on all nodes");
        }
        if (communicator.id() == 0) {
            return refuse(
                    communicator,
                    version,
                    "this NCCL does not tell tuners which communicator it is, which ranks"
                            + " need to agree; take 2.28 or later");
        }
        try {
            return switch (agreement.reach(
                    communicator, version.digest(), () -> DecisionTable.ask(host, communicator))) {
                case Agreement.Outcome.Agreed(DecisionTable table) -> {
                    log.info("{}: all ranks decide by one table of policy {}", communicator, version.name());
                    yield Optional.of(table);
                }
                case Agreement.Outcome.TooFew(int came) ->
                    refuse(
                            communicator,
                            version,
                            ("only %d of its ranks came to agree on decisions in time; set"
                                            + " TRIGON_POLICY for all, and let containers of one node share /dev/shm")
                                    .formatted(came));
                case Agreement.Outcome.DifferentPolicies() ->
                    refuse(communicator, version, "its ranks have different policies; give them the same file");
            };
        } catch (IOException e) {
            return refuse(communicator, version, e + " is in the way of an agreement");
        }
    }

    private static Optional<DecisionTable> refuse(
            PolicyCommunicator communicator, VerifiedPolicy version, String reason) {
        log.warn(
                "{}: the tuner of policy {} is advisory, which is not shown to decide alike on all ranks, and NCCL"
                        + " hangs where it does not: NCCL decides, for {}",
                communicator,
                version.name(),
                reason);
        return Optional.empty();
    }
}
