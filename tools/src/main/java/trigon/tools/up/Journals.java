package trigon.tools.up;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;

/** The journals of a run on all nodes. A change of one node needs all of them: either all nodes change, or none. */
final class Journals {

    private static final String REMEDY = "look for room and rights below /var/lib there";

    private final Nodes nodes;
    private final Journal journal;
    private final Console console;
    private volatile boolean begun;

    Journals(Nodes nodes, Journal journal, Console console) {
        this.nodes = nodes;
        this.journal = journal;
        this.console = console;
    }

    Journal journal() {
        return journal;
    }

    /** Begins them before the first change; later does nothing. */
    void begin() {
        if (!begun) {
            begun = true;
            var _ = nodes.each(node -> nodes.run(node, "keep a journal", REMEDY, journal.begin()))
                    .all();
        }
    }

    /**
     * Has each node take a step, all of them at the same time, and puts all timers off.
     *
     * @param what the step does, for a failure
     * @param remedy if it fails
     * @param scripts of the nodes; one without a script puts its timer off
     */
    Map<String, String> step(String what, String remedy, Map<String, String> scripts) {
        begin();
        return nodes.each(node -> nodes.run(
                        node, what, remedy, journal.step(scripts.getOrDefault(node, "")), NodeShell.Input.NONE))
                .all();
    }

    /** Puts all timers off, and has nodes take a step where there is one; does nothing before the first change. */
    void extend(Map<String, String> scripts) {
        if (begun) {
            var _ = step("go on", "see whether it is still reached", scripts);
        }
    }

    /** Puts the timers off again and again. */
    interface Awake extends AutoCloseable {

        @Override
        void close();
    }

    /** Puts all timers off as long as this command works, or waits for an answer. */
    Awake keepAwake() {
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    Thread.sleep(Duration.ofSeconds(journal.seconds()).dividedBy(3));
                    if (begun) {
                        // one that cannot be told undoes everything, and the next step says so
                        var _ = nodes.each(
                                node -> nodes.shell().run(node, true, journal.step(""), NodeShell.Input.NONE));
                    }
                }
            } catch (InterruptedException | CommandFailure _) {
                return; // the command has ended
            }
        });
        return thread::interrupt;
    }

    /** Keeps what was done, until somebody takes it down. */
    void keep() {
        if (begun) {
            var _ = nodes.each(node -> nodes.run(node, "keep the changes", REMEDY, journal.keep()))
                    .all();
            begun = false;
        }
    }

    /** Makes all nodes as before, and says of which of them that cannot be told. */
    void undo() {
        if (!begun) {
            return;
        }
        begun = false;
        Map<String, String> silent =
                new LinkedHashMap<>(nodes.each(node -> nodes.run(node, "undo the changes", "", journal.undo()))
                        .failed());
        if (silent.isEmpty()) {
            console.note("all nodes are as before");
        } else {
            console.note("as before within %d s, by their own timers, since they do not answer: %s"
                    .formatted(journal.seconds(), String.join(", ", silent.keySet())));
        }
    }
}
