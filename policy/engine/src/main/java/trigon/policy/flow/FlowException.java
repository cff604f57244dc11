package trigon.policy.flow;

/** A function that can leave its own code. */
public final class FlowException extends Exception {

    private static final long serialVersionUID = 1;

    private final int slot;

    FlowException(int slot, String message) {
        super(message);
        this.slot = slot;
    }

    /** Of the instruction. */
    public int slot() {
        return slot;
    }
}
