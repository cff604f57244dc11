package trigon.cluster.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.PrettyPrinter;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.core.util.Separators.Spacing;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import trigon.system.PrintableText;

/**
 * JSON of maps, records, lists, texts, numbers and truth values, by Jackson. Empty optionals are left out of objects.
 * What a terminal would obey, and not show, is escaped.
 */
public final class Json {

    private static final int MAX_DEPTH = 64;

    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .characterEscapes(new TerminalEscapes())
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
            .build();

    private static final Separators SEPARATORS = Separators.createDefaultInstance()
            .withObjectFieldValueSpacing(Spacing.AFTER)
            .withObjectEmptySeparator("")
            .withArrayEmptySeparator("");

    private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

    private static final ObjectMapper MAPPER = JsonMapper.builder(FACTORY)
            .addModule(new ValueTypes())
            .disable(MapperFeature.AUTO_DETECT_IS_GETTERS) // a record's questions are no components
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(SerializationFeature.WRITE_ENUMS_USING_TO_STRING)
            .enable(DeserializationFeature.READ_ENUMS_USING_TO_STRING)
            .defaultSetterInfo(JsonSetter.Value.construct(Nulls.AS_EMPTY, Nulls.SKIP))
            .withConfigOverride(
                    Optional.class,
                    each -> each.setInclude(JsonInclude.Value.construct(Include.NON_EMPTY, Include.ALWAYS)))
            .build();

    private Json() {}

    /** Also escapes what is no control character of ASCII. */
    private static final class TerminalEscapes extends CharacterEscapes {

        private static final long serialVersionUID = 1L;

        @Override
        public int[] getEscapeCodesForAscii() {
            int[] codes = standardAsciiEscapesForJSON();
            codes[0x7f] = ESCAPE_STANDARD;
            return codes;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int character) {
            return PrintableText.isObeyed((char) character)
                    ? new SerializedString("\\u%04x".formatted(character))
                    : null;
        }
    }

    /** An object of keys and values, in this order; without those that are empty. */
    public static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            Object value = unwrapped(keysAndValues[i + 1]);
            if (value != null) {
                object.put((String) keysAndValues[i], value);
            }
        }
        return object;
    }

    /** The same of a record's components. */
    public static Map<String, Object> object(Record of) {
        return MAPPER.convertValue(of, OBJECT);
    }

    private static @Nullable Object unwrapped(Object value) {
        return switch (value) {
            case Optional<?> optional -> optional.orElse(null);
            case OptionalInt optional -> optional.isPresent() ? optional.getAsInt() : null;
            case OptionalLong optional -> optional.isPresent() ? optional.getAsLong() : null;
            case OptionalDouble optional -> optional.isPresent() ? optional.getAsDouble() : null;
            default -> value;
        };
    }

    /** The text, indented. */
    public static String text(Object value) {
        DefaultPrettyPrinter indented = new DefaultPrettyPrinter(SEPARATORS);
        indented.indentArraysWith(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE);
        return written(value, indented);
    }

    /** The text in one line. */
    public static String line(Object value) {
        return written(value, new MinimalPrettyPrinter());
    }

    private static String written(Object value, PrettyPrinter printer) {
        try {
            return MAPPER.writer(printer).writeValueAsString(value) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Values of an object by key, as its text says.
     *
     * @throws IllegalArgumentException if it is no JSON object
     */
    static Map<String, Object> read(String text) {
        try {
            Map<String, Object> read = MAPPER.readValue(text, OBJECT);
            if (read == null) {
                throw new IllegalArgumentException("no JSON object: null");
            }
            return read;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("no JSON object: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * The record with these components. What it does not have is left out, and what is missing is empty.
     *
     * @throws IllegalArgumentException if a value is of another kind
     */
    static <T extends Record> T as(Class<T> type, Map<String, Object> values) {
        return MAPPER.convertValue(values, type);
    }
}
