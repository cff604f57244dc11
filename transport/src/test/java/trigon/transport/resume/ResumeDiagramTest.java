package trigon.transport.resume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import trigon.transport.testsupport.StateDiagram;

/** What the state machines do in all states that they can come to, beside the diagrams of the design page. */
class ResumeDiagramTest {

    /** Enough for a session to be lost since nothing gets across. */
    private static final int MAX_ATTEMPTS = SenderResume.MAX_FRUITLESS + 3;

    @Test
    void theSenderChangesAsTheDiagramSays() throws IOException {
        Set<String> found = explore(
                SenderResume.up(),
                ResumeDiagramTest::ofSender,
                SenderResume::state,
                state -> state.attempt() < MAX_ATTEMPTS);

        assertThat(found).isEqualTo(StateDiagram.transitions("SenderResume"));
    }

    @Test
    void theReceiverChangesAsTheDiagramSays() throws IOException {
        Set<String> found = explore(
                ReceiverResume.up(),
                ResumeDiagramTest::ofReceiver,
                ReceiverResume::state,
                state -> state.attempt() < 4);

        assertThat(found).isEqualTo(StateDiagram.transitions("ReceiverResume"));
    }

    private static Map<String, SenderResume> ofSender(SenderResume from) {
        Map<String, SenderResume> next = new TreeMap<>();
        next.put("broken", from.broken());
        next.put("fenced", from.fenced(1, 0));
        next.put("challenged", from.challenged());
        for (int received = -1; received <= 2; received++) {
            next.put("answered " + received, from.answered(from.attempt(), received));
        }
        next.put("confirmed", from.confirmed(from.attempt()));
        next.put("failed", from.failed(from.attempt()));
        return next;
    }

    private static Map<String, ReceiverResume> ofReceiver(ReceiverResume from) {
        Map<String, ReceiverResume> next = new TreeMap<>();
        next.put("broken", from.broken());
        for (int count = 0; count <= 1; count++) {
            next.put("fenced " + count, from.fenced(count));
            next.put("offered " + count, from.offered(from.attempt() + 1, count, count));
        }
        next.put("offered late", from.offered(from.attempt(), 0, 0));
        next.put("ready", from.ready(from.attempt()));
        next.put("ready late", from.ready(from.attempt() - 1));
        return next;
    }

    private static <M, S extends Enum<S>> Set<String> explore(
            M first, Function<M, Map<String, M>> events, Function<M, S> state, Function<M, Boolean> goesOn) {
        Set<String> found = new TreeSet<>();
        Set<M> known = new HashSet<>(Set.of(first));
        Deque<M> open = new ArrayDeque<>(known);
        while (!open.isEmpty()) {
            M from = open.remove();
            events.apply(from).forEach((event, next) -> {
                if (state.apply(next) != state.apply(from)) {
                    found.add(state.apply(from) + " --> " + state.apply(next) + ": " + event.replaceAll(" .*", ""));
                }
                if (goesOn.apply(next) && known.add(next)) {
                    open.add(next);
                }
            });
        }
        return found;
    }
}
