package trigon.integration.messages;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes one readable line of an expression that joins or formats strings. */
final class Sentences {

    /** At least three words, of which one has letters only. */
    private static final Pattern SENTENCE = Pattern.compile(".*\\S\\s+\\S+\\s+\\S.*");

    private static final Pattern WORD = Pattern.compile("(^|.* )[A-Za-z]{2,}[ ,;:.].*");
    /** Markup, JSON, patterns and YAML. */
    private static final Pattern NOT_PROSE =
            Pattern.compile("[<>{}\\[\\]#%|=*]{2,}.*|<[/a-z!].*|.*</.*|[{\"].*|.*\\\\.*|(- )?[a-z_]+: \\S+");

    private static final Pattern FORMAT = Pattern.compile("%[-+ ,.0-9]*[a-zA-Z]");
    private static final Pattern BRACES = Pattern.compile("\\{\\}");
    private static final Pattern HUMP = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|_");
    private static final Pattern BETWEEN = Pattern.compile("\\s+");

    /** What says nothing that its receiver, or the last argument of a static method, does not say. */
    private static final Set<String> TRANSPARENT = Set.of(
            "toString",
            "getMessage",
            "orElse",
            "orElseThrow",
            "get",
            "name",
            "text",
            "describe",
            "strip",
            "apply",
            "map",
            "collect",
            "stream",
            "join",
            "filter",
            "sorted",
            "toList",
            "valueOf",
            "quoted",
            "toHexString",
            "of",
            "limit",
            "toSeconds",
            "toMillis",
            "getSimpleName",
            "requireNonNull",
            "getValue",
            "getAddress");

    /** Around a name for what is only known at run time; no source has these. */
    private static final char OPEN = '\u2039';

    private static final char CLOSE = '\u203a';

    private Sentences() {}

    /** As the page shows it. */
    static String shown(String text) {
        return text.replace(OPEN, '<').replace(CLOSE, '>');
    }

    static boolean isSentence(String text) {
        return SENTENCE.matcher(text).matches()
                && WORD.matcher(text).matches()
                && !NOT_PROSE.matcher(text).matches();
    }

    /** A literal, a sum that has one, or a literal or sum with values formatted into it. */
    static boolean isText(ExpressionTree tree) {
        return switch (tree) {
            case LiteralTree literal -> literal.getValue() instanceof String;
            case ParenthesizedTree inner -> isText(inner.getExpression());
            case BinaryTree sum
            when sum.getKind() == Tree.Kind.PLUS -> isText(sum.getLeftOperand()) || isText(sum.getRightOperand());
            case MethodInvocationTree call -> isFormat(call);
            default -> false;
        };
    }

    static String of(ExpressionTree tree, Map<String, String> constants) {
        return BETWEEN.matcher(join(tree, constants)).replaceAll(" ").strip();
    }

    /** A format with braces, followed by its values. */
    static String ofLog(List<? extends ExpressionTree> arguments, Map<String, String> constants) {
        String format = of(arguments.getFirst(), constants);
        return filled(format, BRACES, arguments.subList(1, arguments.size()), constants);
    }

    static String nameOf(Tree tree) {
        return switch (tree) {
            case IdentifierTree identifier -> identifier.getName().toString();
            case MemberSelectTree select -> select.getIdentifier().toString();
            case MethodInvocationTree call -> nameOf(call.getMethodSelect());
            case ParenthesizedTree inner -> nameOf(inner.getExpression());
            default -> "...";
        };
    }

    private static boolean isFormat(MethodInvocationTree call) {
        return call.getMethodSelect() instanceof MemberSelectTree select
                && (select.toString().equals("String.format")
                        || (select.getIdentifier().contentEquals("formatted") && isText(select.getExpression())));
    }

    private static String join(ExpressionTree tree, Map<String, String> constants) {
        return switch (tree) {
            case LiteralTree literal -> String.valueOf(literal.getValue());
            case ParenthesizedTree inner -> join(inner.getExpression(), constants);
            case BinaryTree sum
            when sum.getKind() == Tree.Kind.PLUS ->
                join(sum.getLeftOperand(), constants) + join(sum.getRightOperand(), constants);
            case ConditionalExpressionTree either ->
                "(" + join(either.getTrueExpression(), constants) + " | " + join(either.getFalseExpression(), constants)
                        + ")";
            case MethodInvocationTree call when isFormat(call) -> formatted(call, constants);
            case IdentifierTree name -> constants.getOrDefault(nameOf(name), OPEN + words(nameOf(name)) + CLOSE);
            default -> OPEN + words(valueOf(tree)) + CLOSE;
        };
    }

    private static String formatted(MethodInvocationTree call, Map<String, String> constants) {
        MemberSelectTree select = (MemberSelectTree) call.getMethodSelect();
        List<? extends ExpressionTree> arguments = call.getArguments();
        boolean first = select.toString().equals("String.format");
        String format = join(first ? arguments.getFirst() : select.getExpression(), constants);
        return filled(format, FORMAT, first ? arguments.subList(1, arguments.size()) : arguments, constants);
    }

    private static String filled(
            String format, Pattern place, List<? extends ExpressionTree> values, Map<String, String> constants) {
        Matcher matcher = place.matcher(format);
        StringBuilder filled = new StringBuilder();
        int next = 0;
        while (matcher.find()) {
            boolean isLine = matcher.group().equals("%n");
            String value = isLine ? " " : next < values.size() ? join(values.get(next++), constants) : "...";
            matcher.appendReplacement(filled, Matcher.quoteReplacement(value));
        }
        return matcher.appendTail(filled).toString();
    }

    private static String valueOf(ExpressionTree tree) {
        if (tree instanceof MethodInvocationTree call
                && call.getMethodSelect() instanceof MemberSelectTree select
                && TRANSPARENT.contains(select.getIdentifier().toString())) {
            ExpressionTree receiver = select.getExpression();
            boolean isStatic = Character.isUpperCase(nameOf(receiver).charAt(0)) && receiver instanceof IdentifierTree;
            return valueOf(
                    isStatic && !call.getArguments().isEmpty()
                            ? call.getArguments().getLast()
                            : receiver);
        }
        return nameOf(tree);
    }

    private static String words(String name) {
        String without = name.matches("get[A-Z].*") ? name.substring("get".length()) : name;
        return HUMP.matcher(without).replaceAll(" ").toLowerCase(Locale.ROOT);
    }
}
