package trigon.entry.policy;

import trigon.policy.PolicyHost;
import trigon.policy.report.PolicyReport;

/** Who decides by a policy of its own, as a communicator's tuner does. */
public interface Decider {

    /** What decides. */
    PolicyHost host();

    /** What became of its decisions so far. Any thread. */
    PolicyReport.Tuner report();
}
