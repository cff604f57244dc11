package trigon.policy.host;

import trigon.policy.PolicyHost;
import trigon.policy.PolicySlot;
import trigon.policy.report.PolicyReport;

/** Who decides by a policy of its own, as a communicator's tuner does. */
public interface Decider {

    /** Where the policy that it decides by is loaded, and replaced by a later version. */
    PolicyHost host();

    /** NCCL's number of the communicator; 0: this version of NCCL does not say. */
    long communicator();

    /** How many nodes its communicator has. */
    int nodes();

    /** Where the program of its communicator's events runs, on the maps that it decides by. */
    PolicySlot events();

    /** What became of its decisions so far. Any thread. */
    PolicyReport.Tuner report();
}
