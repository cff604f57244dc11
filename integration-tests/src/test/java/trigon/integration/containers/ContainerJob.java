package trigon.integration.containers;

import static java.util.Objects.requireNonNull;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.InspectExecResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import trigon.testsupport.Await;

/** One run of the program that plays NCCL, on all nodes of a triangle: a rank each. */
final class ContainerJob {

    /** In the job's directory: the file that ends an endless one. */
    static final String END = "end";

    /** For connections of programs that start on a busy machine. */
    private static final String PATIENT = "version: 1\nhandshake: {timeout: 40s}\n";

    private final DockerClient client;
    private final Path directory;
    private final Map<Node, String> processes = new EnumMap<>(Node.class);

    private ContainerJob(DockerClient client, Path directory) {
        this.client = client;
        this.directory = directory;
    }

    /**
     * Starts it.
     *
     * @param containers a node's container id
     * @param directory new, in the directory that the containers see; for the rendezvous and the logs
     * @param environment more variables, {@code NAME=value}; without {@code TRIGON_CONFIG}, the ranks are patient
     */
    static ContainerJob start(
            DockerClient client,
            Function<Node, String> containers,
            Path directory,
            List<String> environment,
            String... arguments) {
        ContainerJob job = new ContainerJob(client, directory);
        try {
            Files.createDirectory(directory);
            Files.writeString(directory.resolve("patient.yaml"), PATIENT);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String inside = ContainerTriangle.DIRECTORY + "/" + directory.getFileName();
        List<String> variables = new ArrayList<>(environment);
        variables.add("NCCL_DEBUG=INFO");
        variables.add("TRIGON_JAVA_OPTS=-XX:TieredStopAtLevel=1"); // the second compiler would delay the ranks
        if (environment.stream().noneMatch(each -> each.startsWith("TRIGON_CONFIG="))) {
            variables.add("TRIGON_CONFIG=" + inside + "/patient.yaml");
        }
        for (Node node : Node.values()) {
            List<String> command =
                    new ArrayList<>(List.of("/bin/sh", "-c", "log=$1; shift; exec \"$@\" >$log 2>&1", "sh"));
            command.add(inside + "/" + node.hostName() + ".log");
            command.add(ContainerTriangle.DISTRIBUTION + "/libexec/nccl-host");
            command.addAll(List.of("--plugin", ContainerTriangle.DISTRIBUTION + "/lib/libnccl-net-trigon.so"));
            command.addAll(List.of("--rank", Integer.toString(node.rank()), "--ranks", "3"));
            command.addAll(List.of("--rendezvous", inside + "/rendezvous"));
            command.addAll(List.of(arguments));
            String process = client.execCreateCmd(containers.apply(node))
                    .withEnv(variables)
                    .withCmd(command.toArray(String[]::new))
                    .exec()
                    .getId();
            job.processes.put(node, process);
            try {
                client.execStartCmd(process)
                        .withDetach(true)
                        .exec(new ResultCallback.Adapter<>())
                        .awaitCompletion();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
        return job;
    }

    boolean isRunning(Node node) {
        return Boolean.TRUE.equals(inspect(node).isRunning());
    }

    private InspectExecResponse inspect(Node node) {
        return client.inspectExecCmd(requireNonNull(processes.get(node))).exec();
    }

    /** Waits until every rank has connected to its neighbours and is about to move data. */
    void awaitConnected(Duration limit) {
        Path rendezvous = directory.resolve("rendezvous");
        await(
                limit,
                () -> Arrays.stream(Node.values())
                        .allMatch(node -> Files.exists(rendezvous.resolve("barrier.connected.1." + node.rank()))),
                () -> "not all ranks have connected");
    }

    /** Lets an endless job end, soon and well. */
    void end() {
        try {
            Files.createFile(directory.resolve(END));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for the end of the node's rank and returns its exit status. */
    long exitStatus(Node node, Duration limit) {
        await(limit, () -> !isRunning(node), () -> "rank " + node.rank() + " has not ended");
        return inspect(node).getExitCodeLong();
    }

    /** What the node's rank has printed so far. */
    String log(Node node) {
        try {
            return Files.readString(directory.resolve(node.hostName() + ".log"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a condition; fails, with what the ranks have printed, if it does not come true in time. */
    void await(Duration limit, BooleanSupplier condition, Supplier<String> complaint) {
        Await.until(() -> complaint.get() + "\n" + logs(), limit, condition);
    }

    /** All that the ranks have printed so far. */
    String logs() {
        StringBuilder text = new StringBuilder();
        for (Node node : Node.values()) {
            text.append("-- ").append(node.hostName()).append(":\n").append(log(node));
        }
        return text.toString();
    }
}
