package trigon.config.setting;

/** Messages through relays that are checked from end to end. */
public enum CircuitCheck {
    /** Those of up to 4 KiB, and each 16th longer one. */
    SOME(16),
    /** Each of them, however long. */
    ALL(1),
    /** None. */
    NONE(0);

    private final int oneIn;

    CircuitCheck(int oneIn) {
        this.oneIn = oneIn;
    }

    /** The device checks one in so many of the messages longer than 4 KiB; 0: none, nor shorter ones. */
    public int oneIn() {
        return oneIn;
    }

    /** As it is written in the file and in {@code TRIGON_CIRCUITS_CHECK}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
