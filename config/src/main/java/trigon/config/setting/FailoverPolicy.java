package trigon.config.setting;

/** Treatment of a connection whose path fails. */
public enum FailoverPolicy {
    /** It goes on over another path, or the same one when that is back. */
    ON,
    /** It fails. */
    OFF;

    /** As it is written in the file and in {@code TRIGON_FAILOVER}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
