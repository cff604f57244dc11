package trigon.trace;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Named values as a text: {@code name=value}, with a tab between two. A percent sign, a tab and a line's end in a value
 * are written as a percent sign and two digits. Immutable.
 */
public final class Fields {

    /** Empty: nothing is said. */
    public static final Fields NONE = new Fields(Map.of());

    private static final int LONGEST_VALUE = 4096;

    private final Map<String, String> values;

    private Fields(Map<String, String> values) {
        this.values = Collections.unmodifiableMap(values);
    }

    /** Names and values by turns. */
    public static Fields of(Object... namesAndValues) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i].toString(), String.valueOf(namesAndValues[i + 1]));
        }
        return new Fields(values);
    }

    /** These, and another one. */
    public Fields with(String name, Object value) {
        Map<String, String> more = new LinkedHashMap<>(values);
        more.put(name, String.valueOf(value));
        return new Fields(more);
    }

    /** A value; empty if there is none. */
    public String get(String name) {
        return Objects.requireNonNullElse(values.get(name), "");
    }

    /** A value that is a number; another one if there is none, or it is no number. */
    public long number(String name, long otherwise) {
        try {
            return Long.parseLong(get(name));
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** All of them, in their order. */
    public Map<String, String> asMap() {
        return values;
    }

    /** The fields as a file has them. */
    byte[] encoded() {
        StringBuilder text = new StringBuilder();
        values.forEach((name, value) -> {
            String kept = value.length() > LONGEST_VALUE ? value.substring(0, LONGEST_VALUE) : value;
            text.append(text.isEmpty() ? "" : "\t").append(name).append('=').append(escaped(kept));
        });
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String escaped(String value) {
        return value.replace("%", "%25").replace("\t", "%09").replace("\n", "%0A");
    }

    /** Reads what {@link #encoded} wrote; whatever is no name and value is left out. */
    public static Fields decode(byte[] bytes) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String field : new String(bytes, StandardCharsets.UTF_8).split("\t", -1)) {
            int equals = field.indexOf('=');
            if (equals > 0) {
                String value = field.substring(equals + 1);
                values.put(
                        field.substring(0, equals),
                        value.replace("%0A", "\n").replace("%09", "\t").replace("%25", "%"));
            }
        }
        return new Fields(values);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Fields fields && fields.values.equals(values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
