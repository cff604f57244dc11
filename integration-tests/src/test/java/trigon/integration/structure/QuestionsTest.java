package trigon.integration.structure;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaFieldAccess.AccessType;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import java.nio.channels.Channel;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Methods named {@code is} or {@code has} only ask: they assign no field, and neither wait nor do I/O on channels. */
class QuestionsTest {

    private static final Pattern QUESTION = Pattern.compile("(is|has)[A-Z].*");
    private static final Set<String> WAITS = Set.of("sleep", "wait", "join");
    private static final Pattern IO = Pattern.compile("(read|write|send|receive|accept|connect|finishConnect)");

    /** Questions that act, by reason; this list may only shrink. */
    private static final Map<String, String> ALLOWED =
            Map.of("PendingConnection.isDone", "counts that NCCL still asks");

    @Test
    void onlyAsk() {
        Set<String> acting = ProjectClasses.ALL.stream()
                .filter(type -> !type.getPackageName().startsWith("trigon.verbs.ffm.generated"))
                .flatMap(type -> type.getMethods().stream())
                .filter(method -> QUESTION.matcher(method.getName()).matches())
                .filter(method -> method.getRawReturnType().isEquivalentTo(boolean.class))
                .filter(method -> assigns(method)
                        || method.getMethodCallsFromSelf().stream().anyMatch(QuestionsTest::waitsOrDoesIo))
                .map(method -> method.getOwner().getSimpleName() + "." + method.getName())
                .collect(toCollection(TreeSet::new));

        assertThat(acting)
                .as("methods named is or has that assign a field, wait or do I/O: name them by an imperative verb")
                .isSubsetOf(ALLOWED.keySet());
    }

    private static boolean assigns(JavaMethod method) {
        return method.getFieldAccesses().stream()
                .anyMatch(access -> access.getAccessType() == AccessType.SET
                        && access.getTargetOwner().equals(method.getOwner()));
    }

    private static boolean waitsOrDoesIo(JavaMethodCall call) {
        String name = call.getName();
        return (call.getTargetOwner().isAssignableTo(Thread.class) && WAITS.contains(name))
                || (name.equals("wait") && call.getTargetOwner().isEquivalentTo(Object.class))
                || (call.getTargetOwner().isEquivalentTo(LockSupport.class) && name.startsWith("park"))
                || (call.getTargetOwner().isAssignableTo(Condition.class) && name.startsWith("await"))
                || (call.getTargetOwner().isAssignableTo(Channel.class)
                        && IO.matcher(name).matches());
    }
}
