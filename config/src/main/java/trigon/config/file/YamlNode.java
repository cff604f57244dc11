package trigon.config.file;

import java.util.List;
import java.util.SequencedMap;
import trigon.config.setting.Excerpt;

/** A part of a YAML document that remembers its line. */
sealed interface YamlNode {

    /** Returns where it begins, from 1. */
    int line();

    /** Returns how it is named in a message. */
    String describe();

    /** Keys with values, in the document's order. */
    record Mapping(SequencedMap<String, Entry> entries, int line) implements YamlNode {

        @Override
        public String describe() {
            return "a mapping";
        }
    }

    /** A key's value, and the line of the key. */
    record Entry(YamlNode value, int line) {}

    /** A list. */
    record Sequence(List<YamlNode> items, int line) implements YamlNode {

        @Override
        public String describe() {
            return "a list";
        }
    }

    /** A single value, as it is written. */
    record Scalar(String text, Type type, int line) implements YamlNode {

        /** YAML's type of a scalar. */
        enum Type {
            TEXT,
            NUMBER,
            BOOLEAN,
            NULL
        }

        @Override
        public String describe() {
            return switch (type) {
                case TEXT -> text.isEmpty() ? "empty" : Excerpt.quoted(text);
                case NUMBER, BOOLEAN -> Excerpt.of(text);
                case NULL -> "empty";
            };
        }
    }
}
