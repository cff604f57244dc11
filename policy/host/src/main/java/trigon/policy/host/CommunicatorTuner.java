package trigon.policy.host;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.nccl.TunerAdvice;
import trigon.nccl.TunerChoice;
import trigon.policy.Policy;
import trigon.policy.PolicyHost;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.report.PolicyReport;

/**
 * The policy of one rank's communicator, and its state: maps, and how many collectives there were. It decides by the
 * version of the policy that the communicator began with, since ranks would not change to another one at the same
 * collective. Other threads may read counts that are a little old.
 */
final class CommunicatorTuner implements TunerAdvice {

    private static final Logger log = LoggerFactory.getLogger(CommunicatorTuner.class);

    private static final ProgramType CHUNK = ProgramType.CHUNK;
    private static final Field BYTES = CHUNK.field("n_bytes");
    private static final Field COMM_ID = CHUNK.field("comm_id");
    private static final Field OF_NCCL = CHUNK.field("chunk_of_nccl");
    private static final Field COLLECTIVE = CHUNK.field("coll_type");
    private static final Field RANKS = CHUNK.field("n_ranks");
    private static final Field NODES = CHUNK.field("n_nodes");
    private static final Field ALGORITHM = CHUNK.field("algorithm");
    private static final Field PROTOCOL = CHUNK.field("protocol");
    private static final Field CHANNELS = CHUNK.field("n_channels");
    private static final Field CHUNK_BYTES = CHUNK.field("chunk_bytes");

    private final PolicyCommunicator communicator;
    private final PolicyHost host;
    private final Decisions decisions;
    private final Consumer<CommunicatorTuner> closed;
    private final PolicyHost.Slot events;
    private final PolicyHost.Slot chunks;
    private long taken;
    private long left;
    private long impossible;

    /**
     * A tuner without calls.
     *
     * @param host the version of the policy that the communicator began with, on maps of its own
     * @param closed is told of its end
     */
    CommunicatorTuner(
            PolicyCommunicator communicator, PolicyHost host, Decisions decisions, Consumer<CommunicatorTuner> closed) {
        this.communicator = communicator;
        this.host = host;
        this.decisions = decisions;
        this.closed = closed;
        events = host.slot(ProgramType.PROFILER);
        chunks = host.slot(CHUNK);
    }

    PolicyCommunicator communicator() {
        return communicator;
    }

    PolicyHost host() {
        return host;
    }

    /** The slot of the program of events, on the maps that the communicator decides by. */
    PolicyHost.Slot events() {
        return events;
    }

    PolicyReport.Tuner report() {
        return new PolicyReport.Tuner(
                communicator.toString(), host.active().map(Policy::digest).orElse(""), taken, left, impossible);
    }

    @Override
    public long decide(long scratch, int collective, long bytes, int pipeOps, int regBuff) {
        long choice = decisions.decide(scratch, collective, bytes, pipeOps, regBuff);
        if (TunerChoice.chooses(choice)) {
            taken++;
        } else {
            left++;
        }
        return choice;
    }

    @Override
    public void refused() {
        taken--;
        impossible++;
    }

    @Override
    public long chunk(long scratch, int collective, long bytes, int algorithm, int protocol, int channels, long chunk) {
        if (!chunks.isFilled()) {
            return 0;
        }
        BYTES.set(scratch, bytes);
        COMM_ID.set(scratch, communicator.id());
        OF_NCCL.set(scratch, chunk);
        COLLECTIVE.set(scratch, collective);
        RANKS.set(scratch, communicator.ranks());
        NODES.set(scratch, communicator.nodes());
        ALGORITHM.set(scratch, algorithm);
        PROTOCOL.set(scratch, protocol);
        CHANNELS.set(scratch, channels);
        CHUNK_BYTES.set(scratch, 0);
        return chunks.run(scratch) == ProgramType.APPLY ? CHUNK_BYTES.get(scratch) : 0;
    }

    @Override
    public void close() {
        closed.accept(this);
        log.info(
                "{}: {} decided by the policy, {} left to NCCL, {} that NCCL cannot do",
                communicator,
                taken,
                left,
                impossible);
    }
}
