package trigon.config.setting;

/** Which messages through relays are checked from end to end. */
public enum CircuitCheck {
    /** Those of up to 4 KiB, and each 16th longer one. */
    SOME,
    /** Each of them, however long. */
    ALL,
    /** None. */
    NONE;

    /** As it is written in the file and in {@code TRIGON_CIRCUITS_CHECK}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
