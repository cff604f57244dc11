package trigon.policy.isa;

/** The code of a function has a slot that is no instruction, or that leads out of the code. */
public final class CodeException extends Exception {

    private static final long serialVersionUID = 1;

    private final int slot;

    public CodeException(int slot, String message) {
        super(message);
        this.slot = slot;
    }

    /** Index of the instruction, counted in slots of 8 bytes. */
    public int slot() {
        return slot;
    }
}
