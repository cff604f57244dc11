package trigon.cluster.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
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
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.type.TypeFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import trigon.system.InterfaceAddress;
import trigon.system.PrintableText;

/**
 * JSON of maps, records, lists, texts, numbers and truth values, by Jackson. Empty optionals are left out of objects.
 * Characters that a terminal would obey are escaped.
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

    /** Types of values that Jackson does not know: optionals, addresses, paths, and numbers that are none. */
    private static final SimpleModule VALUE_TYPES = new SimpleModule()
            .addSerializer(new OfOptional())
            .addDeserializer(Optional.class, new ToOptional(TypeFactory.unknownType()))
            .addSerializer(InterfaceAddress.class, ToStringSerializer.instance)
            .addDeserializer(InterfaceAddress.class, new ToAddress())
            .addSerializer(Path.class, ToStringSerializer.instance)
            .addSerializer(Double.class, new OfDouble());

    private static final ObjectMapper MAPPER = JsonMapper.builder(FACTORY)
            .addModule(VALUE_TYPES)
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

    private static final class OfOptional extends StdSerializer<Optional<?>> {

        private static final long serialVersionUID = 1L;

        OfOptional() {
            super(Optional.class, false);
        }

        @Override
        public boolean isEmpty(SerializerProvider provider, Optional<?> value) {
            return value.isEmpty();
        }

        @Override
        public void serialize(Optional<?> value, JsonGenerator to, SerializerProvider provider) throws IOException {
            provider.defaultSerializeValue(value.orElse(null), to);
        }
    }

    /** Writes what is infinite, or no number, as null. */
    private static final class OfDouble extends StdSerializer<Double> {

        private static final long serialVersionUID = 1L;

        OfDouble() {
            super(Double.class);
        }

        @Override
        public void serialize(Double value, JsonGenerator to, SerializerProvider provider) throws IOException {
            if (Double.isFinite(value)) {
                to.writeNumber(value);
            } else {
                to.writeNull();
            }
        }
    }

    private static final class ToOptional extends JsonDeserializer<Optional<?>> implements ContextualDeserializer {

        private final JavaType type;

        ToOptional(JavaType type) {
            this.type = type;
        }

        @Override
        public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
            return new ToOptional(context.getContextualType().containedTypeOrUnknown(0));
        }

        @Override
        public Optional<?> deserialize(JsonParser from, DeserializationContext context) throws IOException {
            return Optional.ofNullable(context.readValue(from, type));
        }

        @Override
        public Optional<?> getNullValue(DeserializationContext context) {
            return Optional.empty();
        }

        @Override
        public Object getEmptyValue(DeserializationContext context) {
            return Optional.empty();
        }
    }

    private static final class ToAddress extends FromStringDeserializer<InterfaceAddress> {

        private static final long serialVersionUID = 1L;

        ToAddress() {
            super(InterfaceAddress.class);
        }

        @Override
        protected InterfaceAddress _deserialize(String value, DeserializationContext context) {
            return InterfaceAddress.parse(value);
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
