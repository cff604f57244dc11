package trigon.entry.tuner;

import trigon.policy.report.PolicyReport;

/** What became of a communicator's decisions. One writer; others may read numbers that are a little old. */
final class DecisionCounts {

    private long taken;
    private long left;
    private long impossible;

    /** The policy's outputs went into NCCL's table. */
    void taken() {
        taken++;
    }

    /** The policy said nothing, or was stopped. */
    void left() {
        left++;
    }

    /** NCCL cannot use the algorithm with the protocol here. */
    void impossible() {
        impossible++;
    }

    PolicyReport.Tuner report(String communicator, String digest) {
        return new PolicyReport.Tuner(communicator, digest, taken, left, impossible);
    }

    @Override
    public String toString() {
        return "%d decided by the policy, %d left to NCCL, %d that NCCL cannot do".formatted(taken, left, impossible);
    }
}
