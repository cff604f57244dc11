package trigon.config.setting;

import java.util.Optional;

/**
 * A row of the table of {@code Settings}.
 *
 * @param variable its environment variable, which goes before the file
 * @param fileKey its dotted path of keys in the file, for example {@code handshake.timeout}
 * @param reader who reads it
 * @param type how it is written
 * @param defaultValue what holds where it is not set
 * @param defaultText the same in words
 * @param meaning a sentence for the documentation, in Markdown
 * @param <T> type of the value; immutable
 */
public record SettingKey<T>(
        Optional<String> variable,
        Optional<String> fileKey,
        Reader reader,
        ValueType<T> type,
        T defaultValue,
        String defaultText,
        String meaning) {

    public enum Reader {
        /** {@code ConfigLoader}: its value is in {@code PluginConfig}. */
        LOADER,
        /** The native library or the log, which are there before the settings. */
        START,
        /** Tests and benchmarks only; a process that loads Trigon may have it in its environment. */
        TOOLS
    }

    public SettingKey {
        if (variable.isEmpty() && fileKey.isEmpty()) {
            throw new IllegalArgumentException("a setting without a key or variable: " + meaning);
        }
    }

    /** Returns what it is called: by its key in the file, else by its variable. */
    public String name() {
        return fileKey.or(() -> variable).orElseThrow();
    }

    /**
     * Insists on a value that could be set.
     *
     * @throws IllegalArgumentException if it could not
     */
    public void require(T value) {
        if (type.parse(type.text(value)).isEmpty()) {
            throw new IllegalArgumentException("%s is %s: %s".formatted(name(), type.text(value), type.rule()));
        }
    }

    /** For example {@code handshake.timeout}. */
    @Override
    public String toString() {
        return name();
    }
}
