package trigon.tools.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON (RFC 8259) into maps, lists, texts, doubles and truth values; null becomes an empty text. */
final class JsonReader {

    private static final int MOST_DEPTH = 64;

    private final String text;
    private int at;
    private int depth;

    private JsonReader(String text) {
        this.text = text;
    }

    /**
     * What the text says.
     *
     * @throws IllegalArgumentException if it is no JSON
     */
    static Object read(String text) {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value();
        if (reader.next() != 0) {
            throw reader.problem("something behind the end");
        }
        return value;
    }

    private Object value() {
        if (++depth > MOST_DEPTH) {
            throw problem("too deep");
        }
        Object value = switch (next()) {
            case '{' -> object();
            case '[' -> list();
            case '"' -> string();
            default -> word();
        };
        depth--;
        return value;
    }

    private Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        if (next() == '}') {
            at++;
            return object;
        }
        while (true) {
            if (next() != '"') {
                throw problem("a key was expected");
            }
            String key = string();
            expect(':');
            object.put(key, value());
            if (next() == '}') {
                at++;
                return object;
            }
            expect(',');
        }
    }

    private List<Object> list() {
        List<Object> list = new ArrayList<>();
        at++;
        if (next() == ']') {
            at++;
            return list;
        }
        while (true) {
            list.add(value());
            if (next() == ']') {
                at++;
                return list;
            }
            expect(',');
        }
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        at++;
        while (true) {
            char c = take();
            if (c == '"') {
                return string.toString();
            }
            string.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = take();
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw problem("an escape was cut");
                }
                at += 4;
                yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
            }
            default -> c;
        };
    }

    private Object word() {
        int from = at;
        while (at < text.length() && "{}[],:\" \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        return switch (word) {
            case "true" -> true;
            case "false" -> false;
            case "null" -> "";
            default -> {
                try {
                    yield Double.valueOf(word);
                } catch (NumberFormatException _) {
                    throw problem("a value was expected");
                }
            }
        };
    }

    /** The next character that is no blank; 0 at the end. */
    private char next() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char take() {
        if (at >= text.length()) {
            throw problem("it was cut");
        }
        return text.charAt(at++);
    }

    private void expect(char c) {
        if (next() != c) {
            throw problem("a " + c + " was expected");
        }
        at++;
    }

    private IllegalArgumentException problem(String what) {
        return new IllegalArgumentException("no JSON, at character " + at + ": " + what);
    }
}
