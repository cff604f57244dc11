package trigon.cluster.json;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A JSON object that is read. What is missing, or of another kind, is empty: it may come from another version.
 * Immutable.
 *
 * @param values by key
 */
public record JsonObject(@JsonValue Map<String, Object> values) {

    public static final JsonObject EMPTY = new JsonObject(Map.of());

    /**
     * From text.
     *
     * @throws IllegalArgumentException if it is no JSON object
     */
    public static JsonObject parse(String text) {
        return new JsonObject(Json.read(text));
    }

    /**
     * The record with these components. What it does not have is left out, and what is missing is empty.
     *
     * @throws IllegalArgumentException if a value is of another kind
     */
    public <T extends Record> T as(Class<T> type) {
        return Json.as(type, values);
    }

    private static Optional<JsonObject> of(Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> values = new java.util.LinkedHashMap<>();
            map.forEach((key, each) -> values.put(String.valueOf(key), each));
            return Optional.of(new JsonObject(values));
        }
        return Optional.empty();
    }

    /** A text; empty if there is none. */
    public Optional<String> find(String key) {
        return Optional.ofNullable(values.get(key))
                .filter(String.class::isInstance)
                .map(String.class::cast);
    }

    /** A text; empty text if there is none. */
    public String text(String key) {
        return find(key).orElse("");
    }

    /** Empty if the key is missing, or its value no number. */
    public Optional<Double> number(String key) {
        return Optional.ofNullable(values.get(key))
                .filter(Number.class::isInstance)
                .map(Number.class::cast)
                .map(Number::doubleValue);
    }

    /** A whole number; 0 if there is none. */
    public long whole(String key) {
        return number(key).map(Double::longValue).orElse(0L);
    }

    /** Tells whether it is there and true. */
    public boolean isTrue(String key) {
        return Boolean.TRUE.equals(values.get(key));
    }

    /** An object; one without keys if there is none. */
    public JsonObject object(String key) {
        return Optional.ofNullable(values.get(key)).flatMap(JsonObject::of).orElse(EMPTY);
    }

    /** The objects of a list. */
    public List<JsonObject> objects(String key) {
        return values.get(key) instanceof List<?> list
                ? list.stream().flatMap(each -> of(each).stream()).toList()
                : List.of();
    }

    /** The texts of a list. */
    public List<String> texts(String key) {
        return values.get(key) instanceof List<?> list
                ? list.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .toList()
                : List.of();
    }

    /** The numbers of a list. */
    public List<Double> numbers(String key) {
        return values.get(key) instanceof List<?> list
                ? list.stream()
                        .filter(Number.class::isInstance)
                        .map(each -> ((Number) each).doubleValue())
                        .toList()
                : List.of();
    }
}
