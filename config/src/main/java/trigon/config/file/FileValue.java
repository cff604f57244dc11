package trigon.config.file;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import trigon.config.setting.ConfigException;
import trigon.config.setting.Excerpt;
import trigon.config.setting.Source;
import trigon.config.setting.ValueType;
import trigon.system.NearestName;

/**
 * A value of the file with what an error about it has to name.
 *
 * @param key dotted path of keys, for example {@code nodes.a.nics[0].address}; empty for the whole document
 * @param line where its key is, or the value itself in a list
 */
record FileValue(Path file, String key, int line, YamlNode node) {

    /** Returns where it was set. */
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
    SequencedMap<String, FileValue> entries(String rule) {
        if (!(node instanceof YamlNode.Mapping mapping)) {
            throw bad(rule);
        }
        SequencedMap<String, FileValue> entries = new LinkedHashMap<>();
        for (Map.Entry<String, YamlNode.Entry> entry : mapping.entries().entrySet()) {
            YamlNode.Entry value = entry.getValue();
            String path = (key.isEmpty() ? "" : key + ".") + Excerpt.of(entry.getKey());
            entries.put(entry.getKey(), new FileValue(file, path, value.line(), value.value()));
        }
        return entries;
    }

    /** The entries of a mapping with these keys and no others. */
    SequencedMap<String, FileValue> entriesOf(List<String> known) {
        SequencedMap<String, FileValue> entries = entries("must be a mapping with keys of " + String.join(", ", known));
        for (Map.Entry<String, FileValue> entry : entries.entrySet()) {
            if (!known.contains(entry.getKey())) {
                throw entry.getValue().unknownKey(entry.getKey(), known);
            }
        }
        return entries;
    }

    /** The items of a list. */
    List<FileValue> items(String rule) {
        if (!(node instanceof YamlNode.Sequence sequence)) {
            throw bad(rule);
        }
        List<FileValue> items = new ArrayList<>();
        for (YamlNode item : sequence.items()) {
            items.add(new FileValue(file, key + "[" + items.size() + "]", item.line(), item));
        }
        return items;
    }

    /**
     * The value, which has to be a text: quoted, or nothing that YAML takes for a number or a boolean.
     *
     * @param rule what the value may be, for the message
     * @throws ConfigException if it is something else
     */
    String text(String rule) {
        if (node instanceof YamlNode.Scalar scalar && scalar.type() == YamlNode.Scalar.Type.TEXT) {
            return scalar.text();
        }
        throw bad(rule);
    }

    /** A value of a setting's type. */
    <T> T value(ValueType<T> type) {
        YamlNode.Scalar.Type expected = type.isNumber() ? YamlNode.Scalar.Type.NUMBER : YamlNode.Scalar.Type.TEXT;
        Optional<T> value = node instanceof YamlNode.Scalar scalar
                        && (scalar.type() == expected
                                || (type.mayBeTruth() && scalar.type() == YamlNode.Scalar.Type.BOOLEAN))
                ? type.parse(scalar.text())
                : Optional.empty();
        return value.orElseThrow(() -> bad(type.rule()));
    }

    /** Insists on the only value that there is. */
    void only(ValueType.WholeNumber number) {
        if (!(node instanceof YamlNode.Scalar scalar)
                || scalar.type() != YamlNode.Scalar.Type.NUMBER
                || number.parse(scalar.text()).isEmpty()) {
            throw bad("must be %d, the only known version".formatted(number.least()));
        }
    }

    private ConfigException unknownKey(String name, List<String> known) {
        String suggestion = NearestName.to(name, known)
                .map(n -> "; did you mean " + n + "?")
                .orElse("");
        return new ConfigException("%s:%d: unknown key %s with value %s: known here are %s%s"
                .formatted(file, line, key, node.describe(), String.join(", ", known), suggestion));
    }
}
