package trigon.config.file;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import trigon.config.setting.ConfigException;
import trigon.config.setting.Excerpt;

/**
 * Turns the text of a YAML document into {@link YamlNode}s. The only class that touches Jackson, so that a process
 * without a file does not load it.
 *
 * <p>Only the plain part of YAML is taken: no aliases, no anchors that anything could refer to, no tags, one document.
 * Duplicate keys are found here and not by Jackson's strict detection, because here both lines are known.
 */
final class YamlReader {

    private static final int DEEPEST = 8;
    private static final int LONGEST_NAME = 1024;

    private final Path file;
    private final YAMLParser parser;

    private YamlReader(Path file, YAMLParser parser) {
        this.file = file;
        this.parser = parser;
    }

    /**
     * Reads a document.
     *
     * @param file named in errors
     * @throws ConfigException if it is not YAML, or more of YAML than is taken here
     */
    static YamlNode read(Path file, String text) {
        StreamReadConstraints limits = StreamReadConstraints.builder()
                .maxNestingDepth(DEEPEST)
                .maxNameLength(LONGEST_NAME)
                .maxDocumentLength(ConfigFile.MAX_BYTES)
                .build();
        YAMLFactory factory =
                YAMLFactory.builder().streamReadConstraints(limits).build();
        try (YAMLParser parser = factory.createParser(text)) {
            return new YamlReader(file, parser).document();
        } catch (JacksonException e) {
            throw notYaml(file, lineOf(e), e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw notYaml(file, 0, e.getMessage(), e);
        }
    }

    private YamlNode document() throws IOException {
        JsonToken first = next();
        if (first == null) {
            throw new ConfigException(file + " is empty; it must at least say version: 1");
        }
        YamlNode root = value(first);
        if (next() != null) {
            throw problem(line(), "a second document begins here: the file must be a single one");
        }
        return root;
    }

    /** The next token; null at the end. */
    private @Nullable JsonToken next() throws IOException {
        try {
            return parser.nextToken();
        } catch (ConfigException | JacksonException e) {
            throw e;
        } catch (RuntimeException e) {
            // SnakeYAML's exceptions are not all turned into Jackson's
            throw notYaml(file, 0, e.getMessage(), e);
        }
    }

    private JsonToken nextInside() throws IOException {
        JsonToken token = next();
        if (token == null) {
            throw problem(line(), "the document ends within a mapping or a list");
        }
        return token;
    }

    private YamlNode value(JsonToken token) throws IOException {
        rejectReferences();
        int line = line();
        return switch (token) {
            case START_OBJECT -> mapping(line);
            case START_ARRAY -> sequence(line);
            case VALUE_STRING -> scalar(YamlNode.Scalar.Type.TEXT);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> scalar(YamlNode.Scalar.Type.NUMBER);
            case VALUE_TRUE, VALUE_FALSE -> scalar(YamlNode.Scalar.Type.BOOLEAN);
            case VALUE_NULL -> scalar(YamlNode.Scalar.Type.NULL);
            case NOT_AVAILABLE, END_OBJECT, END_ARRAY, FIELD_NAME, VALUE_EMBEDDED_OBJECT ->
                throw problem(line, "not a value: " + token);
        };
    }

    private YamlNode scalar(YamlNode.Scalar.Type type) throws IOException {
        return new YamlNode.Scalar(parser.getText(), type, line());
    }

    private YamlNode mapping(int line) throws IOException {
        SequencedMap<String, YamlNode.Entry> entries = new LinkedHashMap<>();
        for (JsonToken token = nextInside(); token != JsonToken.END_OBJECT; token = nextInside()) {
            rejectReferences();
            String key = parser.currentName();
            int keyLine = line();
            YamlNode.Entry earlier = entries.get(key);
            if (earlier != null) {
                throw problem(
                        keyLine, "the key " + Excerpt.quoted(key) + " is there already, on line " + earlier.line());
            }
            entries.put(key, new YamlNode.Entry(value(nextInside()), keyLine));
        }
        return new YamlNode.Mapping(entries, line);
    }

    private YamlNode sequence(int line) throws IOException {
        List<YamlNode> items = new ArrayList<>();
        for (JsonToken token = nextInside(); token != JsonToken.END_ARRAY; token = nextInside()) {
            items.add(value(token));
        }
        return new YamlNode.Sequence(List.copyOf(items), line);
    }

    /** Anchors and aliases make a small file a large one, and tags name types: neither is needed here. */
    private void rejectReferences() throws IOException {
        if (parser.isCurrentAlias() || parser.getObjectId() != null) {
            throw problem(line(), "anchors (&) and aliases (*) are not allowed; write the value out");
        }
        if (parser.getTypeId() != null) {
            throw problem(line(), "tags (!) are not allowed");
        }
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }

    private ConfigException problem(int line, String what) {
        return new ConfigException(file + ":" + line + ": " + what);
    }

    private static int lineOf(JacksonException e) {
        return e.getLocation() == null ? 0 : Math.max(e.getLocation().getLineNr(), 0);
    }

    private static ConfigException notYaml(Path file, int line, @Nullable String reason, Exception cause) {
        ScannerMessage message = ScannerMessage.of(reason == null ? "" : reason, line);
        return new ConfigException(file + message.place() + " is not valid YAML" + message.words(), cause);
    }

    /**
     * SnakeYAML's words about a text that it cannot read, put for who has written the text. Its messages have several
     * lines: what it was about to do, where that began, what was in the way, and, last, where that is.
     *
     * @param place ":LINE:COLUMN", ":LINE" or nothing
     * @param words ": what is wrong; what to do"
     */
    private record ScannerMessage(String place, String words) {

        private static final int LONGEST = 200;
        private static final Pattern PLACE = Pattern.compile("line (\\d+), column (\\d+)");

        /**
         * Reads a message.
         *
         * @param line where it is, if the message does not say; 0: not known
         */
        static ScannerMessage of(String message, int line) {
            String place = line > 0 ? ":" + line : "";
            Matcher places = PLACE.matcher(message);
            for (MatchResult found : places.results().toList()) {
                place = ":" + found.group(1) + ":" + found.group(2);
            }
            String said = message.lines()
                    .filter(text -> !text.isBlank() && !Character.isWhitespace(text.charAt(0)))
                    .filter(text -> !text.startsWith("in 'reader'"))
                    .map(String::strip)
                    .collect(Collectors.joining(", "));
            return new ScannerMessage(
                    place, (said.isEmpty() ? "" : ": " + Excerpt.of(said, LONGEST)) + advice(message));
        }

        private static String advice(String message) {
            if (message.contains("(TAB)")) {
                return "; indent with blanks instead of the tab";
            }
            if (message.contains("expected <block end>") || message.contains("mapping values are not allowed")) {
                return "; the line is not indented as those above that it belongs to, or a quote or bracket is missing"
                        + " there";
            }
            return "";
        }
    }
}
