package trigon.policy.isa;

/** Bytes that are no instruction. */
public final class DecodeException extends Exception {

    private static final long serialVersionUID = 1;

    private final int slot;

    DecodeException(int slot, String message) {
        super(message);
        this.slot = slot;
    }

    /** Index of the instruction, counted in slots of 8 bytes. */
    public int slot() {
        return slot;
    }
}
