package trigon.tools.bench;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.ReachFailure;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Time;
import trigon.tools.console.UserFiles;
import trigon.tools.machine.NcclHost;

/** The same command on other nodes, started from here: a rank on each, which ends with its input. One thread. */
final class RemoteRanks implements AutoCloseable {

    private static final int LINES_OF_A_FAILURE = 6;

    /** Exit statuses of ssh and of a shell that cannot start a command. */
    private static final Set<Integer> NOT_STARTED = Set.of(126, 127, 255);

    private static final long LATER_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(20);
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Time time;
    private final Path folder;
    private final Runnable atFailure;
    private final List<Started> started = new ArrayList<>();
    private volatile List<Integer> current = List.of();

    /**
     * None yet.
     *
     * @param folder for their output
     * @param atFailure called by another thread when one of the current step has failed
     */
    RemoteRanks(Time time, Path folder, Runnable atFailure) {
        this.time = time;
        this.folder = folder;
        this.atFailure = atFailure;
    }

    private record Started(int rank, String node, Process process, Path output, Path log) {

        /** Tells whether it ended without a result; one that says that links are slow has one. */
        boolean hasFailed() {
            try {
                return !process.isAlive() && !Files.readString(output).startsWith("{");
            } catch (IOException e) {
                return true;
            }
        }

        JsonObject result() throws IOException {
            try {
                return JsonObject.parse(Files.readString(output));
            } catch (IllegalArgumentException | CharacterCodingException _) {
                throw new CommandFailure(
                        "rank %d on %s printed something that is not its result: install the same Trigon on all nodes"
                                .formatted(rank, node));
            }
        }

        String failure() {
            String said;
            try {
                said = NcclHost.end(log, LINES_OF_A_FAILURE);
            } catch (IOException e) {
                said = UserFiles.reason(e);
            }
            boolean isStarted = process.isAlive() || !NOT_STARTED.contains(process.exitValue());
            return "rank %d on %s failed%s; the end of what it says:%n%s%s"
                    .formatted(
                            rank,
                            node,
                            process.isAlive() ? "" : " with exit status " + process.exitValue(),
                            said.isBlank() ? "nothing" : said,
                            isStarted ? "" : "\nto do: " + ReachFailure.of(said).remedy(node));
        }
    }

    /** Starts the next rank, the first of which is rank 1, by a command that reaches its node. */
    void start(String node, List<String> command) {
        int rank = started.size() + 1;
        Path output = folder.resolve("remote-" + rank + ".json");
        Path log = folder.resolve("remote-" + rank + ".log");
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectOutput(output.toFile())
                    .redirectError(log.toFile())
                    .start();
        } catch (IOException e) {
            throw new CommandFailure("cannot run %s: %s; give a program that reaches the nodes, with --via"
                    .formatted(command.getFirst(), UserFiles.reason(e)));
        }
        Started one = new Started(rank, node, process, output, log);
        started.add(one);
        var _ = process.onExit().thenRun(() -> {
            if (current.contains(rank) && one.hasFailed()) {
                atFailure.run();
            }
        });
    }

    /** Begins a step of these ranks. Returns the failure of the first one of them that has failed before. */
    Optional<String> begin(List<Integer> ranks) {
        current = ranks;
        return failed(ranks);
    }

    /** The first one of these that has failed, or fails now: what reaches it may end some time later. */
    Optional<String> failure(List<Integer> ranks) throws InterruptedException {
        long end = time.nanoTime() + LATER_NANOS;
        while (failed(ranks).isEmpty()
                && of(ranks).anyMatch(one -> one.process().isAlive())
                && time.nanoTime() - end < 0) {
            time.sleep(BETWEEN_LOOKS);
        }
        return failed(ranks);
    }

    private Optional<String> failed(List<Integer> ranks) {
        return of(ranks).filter(Started::hasFailed).map(Started::failure).findFirst();
    }

    private Stream<Started> of(List<Integer> ranks) {
        return started.stream().filter(one -> ranks.contains(one.rank()));
    }

    /**
     * Waits for their ends.
     *
     * @param timeoutSeconds for each; empty if they may still wait for a step that has failed here, and need not end
     * @param failures gets those of ranks that have failed, or do not end
     * @return the results of the others
     */
    List<JsonObject> results(OptionalInt timeoutSeconds, List<String> failures)
            throws IOException, InterruptedException {
        List<JsonObject> results = new ArrayList<>();
        for (Started one : started) {
            boolean ended = timeoutSeconds.isPresent()
                    ? one.process().waitFor(timeoutSeconds.getAsInt(), TimeUnit.SECONDS)
                    : one.process().waitFor(LATER_NANOS, TimeUnit.NANOSECONDS);
            if (ended ? one.hasFailed() : timeoutSeconds.isPresent()) {
                failures.add(one.failure());
            } else if (ended) {
                results.add(one.result());
            }
        }
        return results;
    }

    /** Ends those that still run. Their input ends first: what reaches a node may end without the rank there. */
    @Override
    public void close() {
        started.forEach(one -> {
            try {
                one.process().getOutputStream().close();
            } catch (IOException _) {
                // it has ended
            }
        });
        long end = System.nanoTime() + LAST_NANOS;
        try {
            for (Started one : started) {
                one.process().waitFor(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        started.forEach(one -> one.process().destroy());
    }
}
