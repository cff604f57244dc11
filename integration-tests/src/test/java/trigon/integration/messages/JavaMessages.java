package trigon.integration.messages;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** Finds the messages in a Java source with the compiler's parser; resolves only the file's own constants. */
final class JavaMessages extends TreeScanner<@Nullable Void, Message.Kind> {

    private static final Set<String> HELP = Set.of("Command", "Option", "Parameters", "ArgGroup");
    private static final Set<String> NOT_FOR_USERS = Set.of("debug", "trace", "isDebugEnabled", "getLogger");
    private static final Set<Message.Kind> LOGGED = Set.of(Message.Kind.INFO, Message.Kind.WARN, Message.Kind.ERROR);
    private static final Pattern THROWN = Pattern.compile(".*(Exception|Error)");

    /** It says what cannot happen. */
    private static final String DEFECT = "AssertionError";

    private final Map<String, String> constants = new HashMap<>();
    private final List<Message> found = new ArrayList<>();

    private JavaMessages() {}

    /** In the order of the source. */
    static List<Message> of(String source) {
        var file = new SimpleJavaFileObject(URI.create("string:///Source.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
        var task = (JavacTask) ToolProvider.getSystemJavaCompiler()
                .getTask(null, null, null, List.of("-proc:none"), null, List.of(file));
        JavaMessages messages = new JavaMessages();
        try {
            for (var unit : task.parse()) {
                messages.readConstants(unit);
                messages.scan(unit, Message.Kind.TEXT);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return List.copyOf(messages.found);
    }

    private void readConstants(Tree unit) {
        new TreeScanner<@Nullable Void, @Nullable Void>() {
            @Override
            public @Nullable Void visitVariable(VariableTree variable, @Nullable Void nothing) {
                String name = variable.getName().toString();
                ExpressionTree value = variable.getInitializer();
                if (name.equals(name.toUpperCase(Locale.ROOT)) && value != null && Sentences.isText(value)) {
                    constants.put(name, Sentences.of(value, constants));
                }
                return super.visitVariable(variable, null);
            }
        }.scan(unit, null);
    }

    @Override
    public @Nullable Void visitAnnotation(AnnotationTree annotation, Message.Kind kind) {
        String name = annotation.getAnnotationType().toString();
        String simple = name.substring(name.lastIndexOf('.') + 1);
        return HELP.contains(simple) ? super.visitAnnotation(annotation, Message.Kind.HELP) : null;
    }

    @Override
    public @Nullable Void visitNewClass(NewClassTree made, Message.Kind kind) {
        if (Sentences.nameOf(made.getIdentifier()).equals(DEFECT)) {
            return null;
        }
        boolean thrown = THROWN.matcher(made.getIdentifier().toString()).matches();
        return super.visitNewClass(made, thrown ? Message.Kind.FAILS : kind);
    }

    @Override
    public @Nullable Void visitMethodInvocation(MethodInvocationTree call, Message.Kind kind) {
        String name = Sentences.nameOf(call.getMethodSelect());
        if (NOT_FOR_USERS.contains(name)) {
            return null;
        }
        Message.Kind said = isOfLog(call) ? kindOf(name, kind) : kind;
        if (said != kind && Sentences.isText(call.getArguments().getFirst())) {
            add(Sentences.ofLog(call.getArguments(), constants), said);
            return null;
        }
        if (Sentences.isText(call)) {
            add(Sentences.of(call, constants), kind);
            return null;
        }
        return super.visitMethodInvocation(call, said);
    }

    @Override
    public @Nullable Void visitBinary(BinaryTree sum, Message.Kind kind) {
        if (Sentences.isText(sum)) {
            add(Sentences.of(sum, constants), kind);
            return null;
        }
        return super.visitBinary(sum, kind);
    }

    @Override
    public @Nullable Void visitLiteral(LiteralTree literal, Message.Kind kind) {
        if (literal.getValue() instanceof String) {
            add(Sentences.of(literal, constants), kind);
        }
        return null;
    }

    private void add(String text, Message.Kind kind) {
        boolean isSaid = LOGGED.contains(kind) || Sentences.isSentence(text);
        if (isSaid) {
            found.add(new Message(kind, Sentences.shown(text)));
        }
    }

    private static boolean isOfLog(MethodInvocationTree call) {
        return call.getMethodSelect() instanceof MemberSelectTree select
                && Sentences.nameOf(select.getExpression())
                        .toLowerCase(Locale.ROOT)
                        .endsWith("log")
                && !call.getArguments().isEmpty();
    }

    private static Message.Kind kindOf(String method, Message.Kind otherwise) {
        return switch (method) {
            case "info" -> Message.Kind.INFO;
            case "warn" -> Message.Kind.WARN;
            case "error" -> Message.Kind.ERROR;
            default -> otherwise;
        };
    }
}
