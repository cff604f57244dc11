package trigon.policy.host;

import java.util.Optional;
import java.util.function.Supplier;
import trigon.nccl.ConnectionAdvice;
import trigon.policy.PolicyHost;
import trigon.policy.ProgramContext;
import trigon.policy.VerifiedPolicy;
import trigon.policy.program.ProgramType;

/** The policy's say in how connections are made. Any thread but NCCL's. */
final class ConnectionPolicy implements ConnectionAdvice {

    private static final ProgramType CONNECT = ProgramType.CONNECT;
    private static final int LEAVE = -1;

    private final PolicyHost.Slot slot;
    private final Supplier<Optional<VerifiedPolicy>> current;
    private final CommunicatorVersions versions;

    /**
     * Asks nothing yet.
     *
     * @param slot the program of connections
     * @param current the version that is active; waits until there may be one
     * @param versions those of communicators
     */
    ConnectionPolicy(PolicyHost.Slot slot, Supplier<Optional<VerifiedPolicy>> current, CommunicatorVersions versions) {
        this.slot = slot;
        this.current = current;
        this.versions = versions;
    }

    @Override
    public int policyOf(long commId) {
        return versions.tell(commId, current.get())
                .filter(VerifiedPolicy::decidesForAllRanks)
                .map(VerifiedPolicy::fingerprint)
                .orElse(0);
    }

    @Override
    public void closed(long commId) {
        versions.forget(commId);
    }

    @Override
    public Advice on(Question question) {
        if (current.get().isEmpty() || !slot.isFilled()) {
            return Advice.NONE;
        }
        try (ProgramContext program = new ProgramContext(CONNECT)) {
            set(program, "peer", question.peer());
            set(program, "link_mbps", question.linkMbps());
            set(program, "links", question.links());
            set(program, "rdma", question.rdma() ? 1 : 0);
            set(program, "relayed", question.relayed() ? 1 : 0);
            set(program, "traffic_class_of_job", question.trafficClass());
            set(program, "n_queue_pairs", 0);
            set(program, "n_links", 0);
            set(program, "traffic_class", LEAVE);
            set(program, "relay", LEAVE);
            return slot.run(program) == ProgramType.APPLY ? advice(program) : Advice.NONE;
        }
    }

    private static Advice advice(ProgramContext program) {
        int trafficClass = get(program, "traffic_class");
        return new Advice(
                get(program, "n_queue_pairs"),
                get(program, "n_links"),
                trafficClass == LEAVE ? Advice.NONE.trafficClass() : trafficClass,
                get(program, "relay") != 0);
    }

    private static void set(ProgramContext program, String field, long value) {
        program.set(CONNECT.field(field), value);
    }

    private static int get(ProgramContext program, String field) {
        return (int) program.get(CONNECT.field(field));
    }
}
