package trigon.policy;

import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/** Runs the active policy's program of one kind. Any thread; neither blocks nor allocates nor throws. */
public final class PolicySlot {

    private final PolicyHost host;
    private final int type;
    private final long stackTop;

    PolicySlot(PolicyHost host, ProgramType type) {
        this.host = host;
        this.type = ProgramTypes.all().indexOf(type);
        stackTop = ProgramContext.stackTop(type);
    }

    /** Tells whether there is a program to run at the moment. */
    public boolean isFilled() {
        return host.has(type);
    }

    /**
     * Runs the program on a context whose inputs are set, and whose outputs say what holds if the program says nothing.
     *
     * @return what it returned, or {@link trigon.policy.program.ProgramType#PASS} if there is none, or if it failed:
     *     then the outputs do not count
     */
    public long run(ProgramContext context) {
        return run(context.address());
    }

    /**
     * The same on the caller's own memory.
     *
     * @param context address of the context, with {@link ProgramContext#bytes} of memory; a multiple of
     *     {@link ProgramContext#ALIGNMENT}
     */
    public long run(long context) {
        return host.run(type, context, context + stackTop);
    }
}
