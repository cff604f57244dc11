package trigon.policy.flow;

/** A function that can leave its own code. */
public final class FlowException extends Exception {

    private static final long serialVersionUID = 1;

    private final int slot;

    FlowException(int slot, String message) {
        super(message);
        this.slot = slot;
    }

    /** The instruction that leads out of the code, by its place in the function. */
    public int slot() {
        return slot;
    }
}
