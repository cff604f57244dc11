package trigon.config.setting;

/**
 * A value that remembers where it was set.
 *
 * @param <T> type of the value; immutable
 */
public record Setting<T>(T value, Source source) {

    /** The same value, set nowhere. */
    static <T> Setting<T> ofDefault(T value) {
        return new Setting<>(value, Source.DEFAULT);
    }

    /** For example {@code auto (TRIGON_LINKS)}. */
    @Override
    public String toString() {
        return value + " (" + source + ")";
    }
}
