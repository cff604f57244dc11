package trigon.cluster.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.PrettyPrinter;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.core.util.Separators.Spacing;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.system.PrintableText;

/**
 * JSON of maps, records, lists, texts, numbers and truth values. What is empty is left out of objects. What a terminal
 * would obey, and not show, is escaped. Read are maps, lists, texts, doubles and truth values; null becomes an empty
 * text.
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

    /** An object of the components of records, in this order; without those that are empty. */
    public static Map<String, Object> joined(Record... records) {
        Map<String, Object> object = new LinkedHashMap<>();
        Stream.of(records).forEach(each -> object.putAll(components(each)));
        return object;
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
        StringWriter text = new StringWriter();
        try (JsonGenerator to = FACTORY.createGenerator(text).setPrettyPrinter(printer)) {
            write(value, to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.append('\n').toString();
    }

    private static void write(Object value, JsonGenerator to) throws IOException {
        switch (value) {
            case Map<?, ?> map -> {
                to.writeStartObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    to.writeFieldName(String.valueOf(entry.getKey()));
                    write(entry.getValue(), to);
                }
                to.writeEndObject();
            }
            case JsonObject(Map<String, Object> values) -> write(values, to);
            case Record record -> write(components(record), to);
            case Iterable<?> items -> {
                to.writeStartArray();
                for (Object item : items) {
                    write(item, to);
                }
                to.writeEndArray();
            }
            case Double number when Double.isFinite(number) -> to.writeNumber(number);
            case Double _ -> to.writeNull();
            case Number number -> to.writeNumber(number.toString());
            case Boolean truth -> to.writeBoolean(truth);
            default -> to.writeString(value.toString());
        }
    }

    private static Map<String, Object> components(Record record) {
        return object(Stream.of(record.getClass().getRecordComponents())
                .flatMap(each -> Stream.of(each.getName(), valueOf(record, each)))
                .toArray());
    }

    private static Object valueOf(Record record, RecordComponent component) {
        Method accessor = component.getAccessor();
        accessor.setAccessible(true); // the record may be its class's own
        try {
            return accessor.invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * What the text says.
     *
     * @throws IllegalArgumentException if it is no JSON
     */
    static Object read(String text) {
        try (JsonParser from = FACTORY.createParser(text)) {
            from.nextToken();
            Object value = value(from);
            if (from.nextToken() != null) {
                throw new IllegalArgumentException("no JSON: something is behind its end");
            }
            return value;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("no JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Object value(JsonParser from) throws IOException {
        JsonToken token = from.currentToken();
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (from.nextToken() != JsonToken.END_OBJECT) {
                    String key = from.currentName();
                    from.nextToken();
                    object.put(key, value(from));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (from.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(from));
                }
                yield list;
            }
            case VALUE_STRING -> from.getText();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> from.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> "";
            case null, default -> throw new IllegalArgumentException("no JSON: a value was expected");
        };
    }
}
