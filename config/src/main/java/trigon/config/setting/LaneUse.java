package trigon.config.setting;

/** Side that moves the messages of a connection that runs as usual: C or Java. */
public enum LaneUse {
    /** The entry library, where it can reach the connection's device: messages do not go through the JVM. */
    AUTO,
    /** Java, by the same functions. */
    OFF;

    /** As it is written in the file and in {@code TRIGON_LANES}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
