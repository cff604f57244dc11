package trigon.entry.tuner;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.entry.host.CallFailures;
import trigon.entry.host.UpcallStubs;
import trigon.nccl.NcclResult;
import trigon.nccl.TunerAdvice;
import trigon.nccl.TunerChoice;
import trigon.system.Memory;

/**
 * The tuner's upcall targets. C has checked the addresses for null, and set the context to null. Nothing but the
 * opening ever fails: NCCL would fail the collective.
 */
public final class TunerUpcalls {

    private static final int SUCCESS = NcclResult.SUCCESS.code();

    /** NCCL cuts a piece down to whole grains, of which the largest has 1920 bytes: none may be left of nothing. */
    private static final long MIN_CHUNK = 4096;

    private final PolicyAccess policy;
    private final CallFailures failures;

    /** By their handles, less one. Replaced by a longer one when full. */
    private volatile @Nullable TunerAdvice[] tuners = new TunerAdvice[8];

    private TunerUpcalls(PolicyAccess policy, CallFailures failures) {
        this.policy = policy;
        this.failures = failures;
    }

    /**
     * Fills C's table ({@code struct tuner_upcalls} in {@code tuner/upcalls.h}).
     *
     * @throws trigon.entry.host.InstallationException where C expects another number of calls
     */
    public static void fill(TunerBlock block, PolicyAccess policy, CallFailures failures) {
        TunerUpcalls target = new TunerUpcalls(policy, failures);
        List<Long> inOrderOfC = List.of(
                stub(target, "open", 4),
                stub(target, "getCollInfo", 10),
                stub(target, "getChunkSize", 8),
                stub(target, "close", 1));
        UpcallStubs.fill(block.upcalls(), block.upcallCount(), inOrderOfC);
    }

    private static long stub(TunerUpcalls target, String method, int arguments) {
        return UpcallStubs.stub(MethodHandles.lookup(), target, method, arguments, Arena.global());
    }

    /** NCCL's {@code init}; leaves the context null where no policy is to decide. */
    int open(long commId, long ranks, long nodes, long contextOut) {
        try {
            TunerAdvice tuner = policy.begin(commId, (int) ranks, (int) nodes);
            if (tuner != null) {
                Memory.putLong(contextOut, add(tuner));
            }
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("init of the tuner", thrown);
        }
    }

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
            TunerAdvice tuner = find(context);
            if (tuner != null) {
                long choice = tuner.decide(scratch, (int) collective, bytes, (int) pipeOps, (int) regBuff);
                if (TunerChoice.chooses(choice)
                        && !CostTable.apply(choice, table, (int) algorithms, (int) protocols, channelsOut)) {
                    tuner.refused();
                }
            }
        } catch (Throwable thrown) {
            var _ = failures.report("getCollInfo", thrown);
        }
        return SUCCESS;
    }

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
            TunerAdvice tuner = find(context);
            if (tuner != null) {
                long chunk = tuner.chunk(
                        scratch,
                        (int) collective,
                        bytes,
                        (int) algorithm,
                        (int) protocol,
                        (int) channels,
                        Memory.getLong(chunkInOut));
                if (chunk >= MIN_CHUNK) {
                    Memory.putLong(chunkInOut, chunk);
                }
            }
        } catch (Throwable thrown) {
            var _ = failures.report("getChunkSize", thrown);
        }
        return SUCCESS;
    }

    int close(long context) {
        try {
            TunerAdvice tuner = remove(context);
            if (tuner != null) {
                policy.end(tuner);
            }
        } catch (Throwable thrown) {
            var _ = failures.report("finalize of the tuner", thrown);
        }
        return SUCCESS;
    }

    private @Nullable TunerAdvice find(long context) {
        @Nullable TunerAdvice[] all = tuners;
        return context > 0 && context <= all.length ? all[(int) context - 1] : null;
    }

    private synchronized long add(TunerAdvice tuner) {
        @Nullable TunerAdvice[] all = tuners;
        int free = 0;
        while (free < all.length && all[free] != null) {
            free++;
        }
        @Nullable TunerAdvice[] next = new TunerAdvice[free < all.length ? all.length : 2 * free];
        System.arraycopy(all, 0, next, 0, all.length);
        next[free] = tuner;
        tuners = next;
        return free + 1L;
    }

    private synchronized @Nullable TunerAdvice remove(long context) {
        TunerAdvice removed = find(context);
        if (removed != null) {
            @Nullable TunerAdvice[] next = tuners.clone();
            next[(int) context - 1] = null;
            tuners = next;
        }
        return removed;
    }
}
