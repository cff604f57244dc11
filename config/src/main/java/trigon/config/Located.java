package trigon.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A value of the file with what an error about it has to name.
 *
 * @param key dotted path of keys, for example {@code nodes.a.nics[0].address}; empty for the whole document
 * @param line where its key is, or the value itself in a list
 */
record Located(Path file, String key, int line, YamlNode node) {

    private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9]\\d{0,8})");
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

    /** Where it was set. */
    Source source() {
        return new Source.File(file, line);
    }

    /** An error that names file, line, key, value and rule. */
    ConfigException bad(String rule) {
        String what = key.isEmpty() ? "the document" : key;
        return new ConfigException("%s:%d: %s is %s: %s".formatted(file, line, what, node.describe(), rule));
    }

    /** The same, where the rule is an exception's message. */
    ConfigException bad(IllegalArgumentException rule) {
        return bad(Objects.requireNonNullElse(rule.getMessage(), "it is malformed"));
    }

    /** The entries of a mapping whose keys are names. */
    SequencedMap<String, Located> entries(String rule) {
        if (!(node instanceof YamlNode.Mapping mapping)) {
            throw bad(rule);
        }
        SequencedMap<String, Located> entries = new LinkedHashMap<>();
        for (Map.Entry<String, YamlNode.Entry> entry : mapping.entries().entrySet()) {
            YamlNode.Entry value = entry.getValue();
            String path = (key.isEmpty() ? "" : key + ".") + Excerpt.of(entry.getKey());
            entries.put(entry.getKey(), new Located(file, path, value.line(), value.value()));
        }
        return entries;
    }

    /** The entries of a mapping with these keys and no others. */
    SequencedMap<String, Located> entriesOf(List<String> known) {
        SequencedMap<String, Located> entries = entries("must be a mapping with keys of " + String.join(", ", known));
        for (Map.Entry<String, Located> entry : entries.entrySet()) {
            if (!known.contains(entry.getKey())) {
                throw entry.getValue().unknownKey(entry.getKey(), known);
            }
        }
        return entries;
    }

    /** The items of a list. */
    List<Located> items(String rule) {
        if (!(node instanceof YamlNode.Sequence sequence)) {
            throw bad(rule);
        }
        List<Located> items = new ArrayList<>();
        for (YamlNode item : sequence.items()) {
            items.add(new Located(file, key + "[" + items.size() + "]", item.line(), item));
        }
        return items;
    }

    /** A text. */
    String text(String rule) {
        if (node instanceof YamlNode.Scalar scalar && scalar.type() == YamlNode.Scalar.Type.TEXT) {
            return scalar.text();
        }
        throw bad(rule);
    }

    /** A whole number in decimals. */
    int integer(int least, int most) {
        OptionalInt value = integer();
        if (value.isEmpty() || value.getAsInt() < least || value.getAsInt() > most) {
            throw bad("must be a whole number from %d to %d".formatted(least, most));
        }
        return value.getAsInt();
    }

    /** Insists on one number. */
    void only(int number) {
        if (!integer().equals(OptionalInt.of(number))) {
            throw bad("must be %d, the only one that is known".formatted(number));
        }
    }

    private OptionalInt integer() {
        return node instanceof YamlNode.Scalar scalar
                        && scalar.type() == YamlNode.Scalar.Type.NUMBER
                        && INTEGER.matcher(scalar.text()).matches()
                ? OptionalInt.of(Integer.parseInt(scalar.text()))
                : OptionalInt.empty();
    }

    /** A number with its unit: {@code 500ms}, {@code 10s}, {@code 2m}, {@code 1h}. */
    Duration duration(Duration least, Duration most, String range) {
        String rule = durationRule(range);
        return duration(text(rule), least, most).orElseThrow(() -> bad(rule));
    }

    /** What a duration has to look like. */
    static String durationRule(String range) {
        return "must be a number with its unit (ms, s, m or h), such as 10s, from " + range;
    }

    /** A duration in words of {@link #durationRule}; empty if it is none, or out of range. */
    static Optional<Duration> duration(String text, Duration least, Duration most) {
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

    private ConfigException unknownKey(String name, List<String> known) {
        String suggestion = NearestName.to(name, known)
                .map(n -> "; did you mean " + n + "?")
                .orElse("");
        return new ConfigException("%s:%d: unknown key %s with value %s: known here are %s%s"
                .formatted(file, line, key, node.describe(), String.join(", ", known), suggestion));
    }
}
