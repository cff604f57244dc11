package trigon.integration.messages;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Finds the messages of a C source: its string literals, joined as the compiler joins them. */
final class CMessages {

    private static final Pattern COMMENT = Pattern.compile("(?m)/\\*(?s:.*?)\\*/|^\\s*//.*$|^\\s*#include.*$");
    private static final String LITERAL = "\"((?:[^\"\\\\]|\\\\.)*)\"";
    private static final Pattern JOINED =
            Pattern.compile("(?:[A-Z][A-Z_]+\\s+)?" + LITERAL + "(?:\\s*(?:" + LITERAL + "|[A-Z][A-Z_]+))*");
    private static final Pattern PART = Pattern.compile(LITERAL + "|([A-Z][A-Z_]+)");
    private static final Pattern LEVEL = Pattern.compile("NCCL_LOG_(INFO|WARN)|(start_fails|fails_with_exception)\\(");

    private CMessages() {}

    /** In the order of the source. */
    static List<Message> of(String source) {
        String code = COMMENT.matcher(source).replaceAll("");
        List<Message> found = new ArrayList<>();
        for (MatchResult literal : JOINED.matcher(code).results().toList()) {
            String text = textOf(literal.group());
            if (Sentences.isSentence(text)) {
                found.add(new Message(kindOf(code.substring(0, literal.start())), text));
            }
        }
        return List.copyOf(found);
    }

    private static String textOf(String literals) {
        StringBuilder text = new StringBuilder();
        for (MatchResult part : PART.matcher(literals).results().toList()) {
            text.append(part.group(1) == null ? "<" + part.group(2) + ">" : part.group(1));
        }
        return text.toString().replace("\\n", " ").replace("\\\"", "\"").strip();
    }

    /** By what the statement says before it. */
    private static Message.Kind kindOf(String before) {
        int begin = Math.max(before.lastIndexOf(';'), Math.max(before.lastIndexOf('{'), before.lastIndexOf('}')));
        Message.Kind kind = Message.Kind.TEXT;
        for (MatchResult level :
                LEVEL.matcher(before.substring(begin + 1)).results().toList()) {
            kind = level.group(1) == null ? Message.Kind.FAILS : Message.Kind.valueOf(level.group(1));
        }
        return kind;
    }
}
