package trigon.tools.up;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** The nodes of a command, which do the same at the same time. One thread. */
final class Nodes {

    /** Something that a node does, of which a failure has a reason in words. */
    interface Work<T> {
        T on(String node) throws IOException;
    }

    /**
     * What came of it.
     *
     * @param done results of the nodes that have done it
     * @param failed reasons of the others
     */
    record Results<T>(Map<String, T> done, Map<String, String> failed) {

        /**
         * The results of all nodes.
         *
         * @throws CommandFailure that names each node which has none, and why
         */
        Map<String, T> all() {
            if (!failed.isEmpty()) {
                List<String> lines = new ArrayList<>();
                failed.forEach((node, why) -> lines.add(node + ": " + why));
                throw new CommandFailure(String.join("\n", lines));
            }
            return done;
        }
    }

    private final List<String> names;
    private final NodeShell shell;

    Nodes(List<String> names, NodeShell shell) {
        this.names = List.copyOf(names);
        this.shell = shell;
    }

    List<String> names() {
        return names;
    }

    NodeShell shell() {
        return shell;
    }

    /** Has all nodes do it, and waits for all of them, whatever the others do. */
    <T> Results<T> each(Work<T> work) {
        Map<String, T> done = new LinkedHashMap<>();
        Map<String, String> failed = new LinkedHashMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<T>> results = names.stream()
                    .map(node -> threads.submit(() -> work.on(node)))
                    .toList();
            for (int i = 0; i < names.size(); i++) {
                try {
                    done.put(names.get(i), results.get(i).get());
                } catch (ExecutionException e) {
                    failed.put(names.get(i), reason(Objects.requireNonNull(e.getCause())));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted");
        }
        return new Results<>(done, failed);
    }

    private static String reason(Throwable cause) {
        return switch (cause) {
            case CommandFailure own -> String.valueOf(own.getMessage());
            case IOException io -> UserFiles.reason(io);
            case RuntimeException bug -> throw bug;
            default -> throw new IllegalStateException(cause);
        };
    }

    /**
     * Runs a script as root on a node, which must end well.
     *
     * @param what it is to do, for the failure: "cannot WHAT"
     * @param remedy to do if it fails
     * @return what it has printed
     */
    String run(String node, String what, String remedy, String script, NodeShell.Input input) throws IOException {
        NodeShell.Answer answer = shell.run(node, true, script, input);
        if (!answer.isGood()) {
            throw new CommandFailure("cannot %s: %s; %s"
                    .formatted(
                            what,
                            answer.complaint().isEmpty()
                                    ? "its shell ended with exit status " + answer.status()
                                    : answer.complaint(),
                            remedy));
        }
        return answer.out();
    }

    String run(String node, String what, String remedy, String script) throws IOException {
        return run(node, what, remedy, script, NodeShell.Input.NONE);
    }
}
