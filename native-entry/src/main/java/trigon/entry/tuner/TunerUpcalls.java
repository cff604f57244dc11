package trigon.entry.tuner;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.entry.host.CallFailures;
import trigon.nccl.NcclResult;
import trigon.policy.host.CommunicatorPolicy;
import trigon.policy.host.ProcessPolicy;
import trigon.policy.host.decision.PolicyCommunicator;
import trigon.system.Memory;

/**
 * The tuner's upcall targets. C has checked the addresses for null, and set the context to null. Nothing but the
 * opening ever fails: NCCL would fail the collective.
 */
final class TunerUpcalls {

    private static final Logger log = LoggerFactory.getLogger(TunerUpcalls.class);
    private static final int SUCCESS = NcclResult.SUCCESS.code();

    private final ProcessPolicy policy;
    private final CallFailures failures;

    /** By their handles, less one. Replaced by a longer one when full. */
    private volatile @Nullable CommunicatorTuner[] tuners = new CommunicatorTuner[8];

    TunerUpcalls(ProcessPolicy policy, CallFailures failures) {
        this.policy = policy;
        this.failures = failures;
    }

    /** NCCL's {@code init}; leaves the context null where no policy is to decide. */
    int open(long commId, long ranks, long nodes, long contextOut) {
        try {
            PolicyCommunicator communicator = new PolicyCommunicator(commId, (int) ranks, (int) nodes);
            CommunicatorPolicy decides = policy.forCommunicator(communicator);
            if (decides != null) {
                CommunicatorTuner tuner = new CommunicatorTuner(communicator, decides);
                Memory.putLong(contextOut, add(tuner));
                policy.register(tuner);
            }
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("init of the tuner", thrown);
        }
    }

    /** NCCL's {@code getCollInfo}. */
    int getCollInfo(
            long context,
            long scratch,
            long collective,
            long bytes,
            long pipeOps,
            long table,
            long algorithms,
            long protocols,
            long regBuff,
            long channelsOut) {
        try {
            CommunicatorTuner tuner = find(context);
            if (tuner != null) {
                tuner.decide(
                        scratch,
                        (int) collective,
                        bytes,
                        (int) pipeOps,
                        table,
                        (int) algorithms,
                        (int) protocols,
                        (int) regBuff,
                        channelsOut);
            }
        } catch (Throwable thrown) {
            var _ = failures.report("getCollInfo", thrown);
        }
        return SUCCESS;
    }

    /** NCCL's {@code getChunkSize}. */
    int getChunkSize(
            long context,
            long scratch,
            long collective,
            long bytes,
            long algorithm,
            long protocol,
            long channels,
            long chunkInOut) {
        try {
            CommunicatorTuner tuner = find(context);
            if (tuner != null) {
                tuner.decideChunk(
                        scratch, (int) collective, bytes, (int) algorithm, (int) protocol, (int) channels, chunkInOut);
            }
        } catch (Throwable thrown) {
            var _ = failures.report("getChunkSize", thrown);
        }
        return SUCCESS;
    }

    /** NCCL's {@code finalize}. */
    int close(long context) {
        try {
            CommunicatorTuner tuner = remove(context);
            if (tuner != null) {
                policy.unregister(tuner);
                log.info("{}: {}", tuner, tuner.counts());
            }
        } catch (Throwable thrown) {
            var _ = failures.report("finalize of the tuner", thrown);
        }
        return SUCCESS;
    }

    private @Nullable CommunicatorTuner find(long context) {
        @Nullable CommunicatorTuner[] all = tuners;
        return context > 0 && context <= all.length ? all[(int) context - 1] : null;
    }

    private synchronized long add(CommunicatorTuner tuner) {
        @Nullable CommunicatorTuner[] all = tuners;
        int free = 0;
        while (free < all.length && all[free] != null) {
            free++;
        }
        @Nullable CommunicatorTuner[] next = new CommunicatorTuner[free < all.length ? all.length : 2 * free];
        System.arraycopy(all, 0, next, 0, all.length);
        next[free] = tuner;
        tuners = next;
        return free + 1L;
    }

    private synchronized @Nullable CommunicatorTuner remove(long context) {
        CommunicatorTuner removed = find(context);
        if (removed != null) {
            @Nullable CommunicatorTuner[] next = tuners.clone();
            next[(int) context - 1] = null;
            tuners = next;
        }
        return removed;
    }
}
