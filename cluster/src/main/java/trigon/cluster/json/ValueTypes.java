package trigon.cluster.json;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.type.TypeFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import trigon.system.InterfaceAddress;

/** Types of values that Jackson does not know: optionals, addresses, paths, and numbers that are none. */
final class ValueTypes extends SimpleModule {

    private static final long serialVersionUID = 1L;

    ValueTypes() {
        addSerializer(new OfOptional());
        addDeserializer(Optional.class, new ToOptional(TypeFactory.unknownType()));
        addSerializer(InterfaceAddress.class, ToStringSerializer.instance);
        addDeserializer(InterfaceAddress.class, new ToAddress());
        addSerializer(Path.class, ToStringSerializer.instance);
        addSerializer(Double.class, new OfDouble());
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
}
