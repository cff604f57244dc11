package trigon.tools.console;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import trigon.system.PrintableText;

/**
 * JSON (RFC 8259) of maps, lists, texts, numbers and truth values. What is empty is left out of objects. What a
 * terminal would obey, and not show, is escaped.
 */
public final class Json {

    private Json() {}

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

    private static @Nullable Object unwrapped(Object value) {
        return switch (value) {
            case Optional<?> optional -> optional.orElse(null);
            case OptionalInt optional -> optional.isPresent() ? optional.getAsInt() : null;
            case OptionalLong optional -> optional.isPresent() ? optional.getAsLong() : null;
            default -> value;
        };
    }

    /** The text, indented. */
    public static String text(Object value) {
        StringBuilder text = new StringBuilder();
        write(value, "\n", text);
        return text.append('\n').toString();
    }

    /** The text in one line. */
    public static String line(Object value) {
        StringBuilder text = new StringBuilder();
        write(value, "", text);
        return text.append('\n').toString();
    }

    private static void write(Object value, String indent, StringBuilder to) {
        switch (value) {
            case Map<?, ?> map -> {
                String inner = indent.isEmpty() ? "" : indent + "  ";
                String separator = "{";
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    to.append(separator).append(inner);
                    quote(String.valueOf(entry.getKey()), to);
                    to.append(": ");
                    write(entry.getValue(), inner, to);
                    separator = ",";
                }
                to.append(map.isEmpty() ? "{}" : indent + "}");
            }
            case Iterable<?> items -> {
                String inner = indent.isEmpty() ? "" : indent + "  ";
                String separator = "[";
                for (Object item : items) {
                    to.append(separator).append(inner);
                    write(item, inner, to);
                    separator = ",";
                }
                to.append(separator.equals("[") ? "[]" : indent + "]");
            }
            case Double number -> to.append(Double.isFinite(number) ? number.toString() : "null");
            case Number number -> to.append(number);
            case Boolean truth -> to.append(truth);
            default -> quote(value.toString(), to);
        }
    }

    private static void quote(String text, StringBuilder to) {
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> to.append("\\\"");
                case '\\' -> to.append("\\\\");
                case '\n' -> to.append("\\n");
                case '\t' -> to.append("\\t");
                default -> {
                    if (PrintableText.isObeyed(c)) {
                        to.append("\\u%04x".formatted((int) c));
                    } else {
                        to.append(c);
                    }
                }
            }
        }
        to.append('"');
    }
}
