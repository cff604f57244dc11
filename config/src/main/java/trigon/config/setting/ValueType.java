package trigon.config.setting;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.PortRange;

/**
 * Notation and range of a setting's value; the same in the file and in the environment.
 *
 * @param <T> type of the value; immutable
 */
public sealed interface ValueType<T> {

    /** The value that a text stands for; empty if it breaks the rule. */
    Optional<T> parse(String text);

    /** Returns what a text has to be, for errors: begins with "must be". */
    String rule();

    /** A value as it is written. */
    default String text(T value) {
        return value.toString();
    }

    /** Tells whether YAML has to take it for a number, and not for a text. */
    default boolean isNumber() {
        return false;
    }

    /** Tells whether YAML may take it for a truth value: {@code on} is one. */
    default boolean mayBeTruth() {
        return false;
    }

    /** A whole number in decimals. */
    record WholeNumber(int least, int most) implements ValueType<Integer> {

        private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9]\\d{0,8})");

        @Override
        public Optional<Integer> parse(String text) {
            if (!INTEGER.matcher(text).matches()) {
                return Optional.empty();
            }
            return Optional.of(Integer.valueOf(text)).filter(value -> value >= least && value <= most);
        }

        @Override
        public String rule() {
            return "must be a whole number from %d to %d".formatted(least, most);
        }

        @Override
        public boolean isNumber() {
            return true;
        }
    }

    /** A number with its unit: {@code 500ms}, {@code 10s}, {@code 2m}, {@code 1h}. */
    record TimeSpan(Duration least, Duration most) implements ValueType<Duration> {

        private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

        @Override
        public Optional<Duration> parse(String text) {
            Matcher parts = DURATION.matcher(text);
            if (!parts.matches()) {
                return Optional.empty();
            }
            long number = Long.parseLong(parts.group(1));
            Duration value = switch (parts.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                default -> Duration.ofHours(number);
            };
            return Optional.of(value).filter(d -> d.compareTo(least) >= 0 && d.compareTo(most) <= 0);
        }

        @Override
        public String rule() {
            return "must be a number with its unit (ms, s, m or h), such as 10s, from %s to %s"
                    .formatted(text(least), text(most));
        }

        @Override
        public String text(Duration value) {
            if (value.toMillisPart() != 0) {
                return value.toMillis() + "ms";
            }
            if (value.toSecondsPart() != 0) {
                return value.toSeconds() + "s";
            }
            return value.toMinutesPart() != 0 ? value.toMinutes() + "m" : value.toHours() + "h";
        }
    }

    /** A {@link TimeSpan}, or {@code never} for one without an end. */
    record EndlessTimeSpan(TimeSpan span) implements ValueType<Duration> {

        /** Longer than any process lives. */
        public static final Duration NEVER = Duration.ofDays(36_500);

        private static final String WORD = "never";

        @Override
        public Optional<Duration> parse(String text) {
            return text.equals(WORD) ? Optional.of(NEVER) : span.parse(text);
        }

        @Override
        public String rule() {
            return span.rule() + ", or " + WORD;
        }

        @Override
        public String text(Duration value) {
            return value.equals(NEVER) ? WORD : span.text(value);
        }
    }

    /** One of an enum's constants, in small letters. */
    record Word<E extends Enum<E>>(Class<E> constants) implements ValueType<E> {

        @Override
        public Optional<E> parse(String text) {
            return EnumWords.find(constants.getEnumConstants(), text);
        }

        /** Allows YAML's words for truth where one of the words is the same. */
        @Override
        public boolean mayBeTruth() {
            return parse("on").isPresent() || parse("off").isPresent();
        }

        @Override
        public String rule() {
            return "must be one of " + EnumWords.all(constants.getEnumConstants());
        }

        @Override
        public String text(E value) {
            return EnumWords.of(value);
        }
    }

    /** For whom a node relays. */
    record Relays() implements ValueType<RelayPolicy> {

        @Override
        public Optional<RelayPolicy> parse(String text) {
            return RelayPolicy.parse(text);
        }

        @Override
        public String rule() {
            return "must be on, off, or only-for with names of nodes, such as only-for [b, c]";
        }

        @Override
        public boolean mayBeTruth() {
            return true;
        }
    }

    /** The absolute path of a file: what a relative one is relative to would be another question on each node. */
    record AbsolutePath(String content) implements ValueType<Path> {

        @Override
        public Optional<Path> parse(String text) {
            try {
                return Optional.of(Path.of(text)).filter(Path::isAbsolute);
            } catch (InvalidPathException _) {
                return Optional.empty();
            }
        }

        @Override
        public String rule() {
            return "must be the absolute path of a file that holds " + content;
        }
    }

    /** TCP ports that follow each other. */
    record Ports() implements ValueType<PortRange> {

        @Override
        public Optional<PortRange> parse(String text) {
            return PortRange.parse(text);
        }

        @Override
        public String rule() {
            return "must be a range of TCP ports from 1 to 65535, such as 30000-30999";
        }
    }

    /** Any text; who uses it has rules of his own. */
    record AnyText() implements ValueType<String> {

        @Override
        public Optional<String> parse(String text) {
            return Optional.of(text);
        }

        @Override
        public String rule() {
            return "must be text";
        }
    }

    /** A value that may be absent, without a value that stands for its absence. */
    record Optionally<T>(ValueType<T> type) implements ValueType<Optional<T>> {

        @Override
        public Optional<Optional<T>> parse(String text) {
            Optional<T> value = type.parse(text);
            return value.isPresent() ? Optional.of(value) : Optional.empty();
        }

        @Override
        public String rule() {
            return type.rule();
        }

        @Override
        public String text(Optional<T> value) {
            return value.map(type::text).orElse("");
        }

        @Override
        public boolean isNumber() {
            return type.isNumber();
        }
    }
}
