package trigon.policy;

/** Runs the active policy's program of one kind. Any thread; neither blocks nor allocates nor throws. */
public final class PolicySlot {

    private final PolicyHost host;
    private final int type;

    PolicySlot(PolicyHost host, int type) {
        this.host = host;
        this.type = type;
    }

    /**
     * Runs the program on a context whose inputs are set, and whose outputs say what holds if the program says nothing.
     *
     * @return what it returned, or {@link trigon.policy.program.ProgramType#PASS} if there is none, or if it failed:
     *     then the outputs do not count
     */
    public long run(ProgramContext context) {
        return host.run(type, context);
    }
}
