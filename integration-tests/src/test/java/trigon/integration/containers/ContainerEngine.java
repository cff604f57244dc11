package trigon.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.BuildImageResultCallback;
import com.github.dockerjava.api.model.Container;
import com.github.dockerjava.api.model.Network;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;

/**
 * The container engine that the tests run on, and the image that their containers are made of.
 *
 * <p>The image holds nothing but a shell, what the command {@code trigon} calls, and the C library of this machine, to
 * show that the distribution needs nothing else, and so that no registry is asked.
 */
final class ContainerEngine {

    /** On everything that the tests make: what an earlier run that was killed has left behind is found by it. */
    static final Map<String, String> LABELS = Map.of("trigon.integration", "containers");

    static final String IMAGE = "trigon-integration:latest";

    /** If this is in the environment with the value {@code required}, tests without an engine fail. */
    private static final String REQUIREMENT = "TRIGON_CONTAINERS";

    private static final List<String> PROGRAMS = List.of(
            "/bin/sh",
            "/bin/sleep",
            "/bin/cat",
            "/bin/bash",
            "/usr/bin/env",
            "/usr/bin/dirname",
            "/usr/bin/readlink",
            "/usr/bin/stat");

    private ContainerEngine() {}

    /**
     * The engine's client. Without an engine the calling test is skipped, or fails where {@value #REQUIREMENT} says so.
     */
    static DockerClient client() {
        if (!DockerClientFactory.instance().isDockerAvailable()) {
            String reason = "no container engine answers (DOCKER_HOST=%s): start one, or run ./trigon containers test"
                    .formatted(System.getenv("DOCKER_HOST"));
            if ("required".equals(System.getenv(REQUIREMENT))) {
                fail(reason + "; " + REQUIREMENT + "=required");
            }
            abort(reason);
        }
        return DockerClientFactory.instance().client();
    }

    /** Removes the containers and networks of an earlier run. */
    static void sweep(DockerClient client) {
        for (Container container : client.listContainersCmd()
                .withShowAll(true)
                .withLabelFilter(LABELS)
                .exec()) {
            client.removeContainerCmd(container.getId()).withForce(true).exec();
        }
        for (Network network : client.listNetworksCmd().exec()) {
            if (network.getLabels() != null && network.getLabels().entrySet().containsAll(LABELS.entrySet())) {
                client.removeNetworkCmd(network.getId()).exec();
            }
        }
    }

    /**
     * Makes the image, of what the distribution's own files are linked to.
     *
     * @param scratch a directory for files on the way
     */
    static void makeImage(DockerClient client, Path distribution, Path scratch) {
        try {
            Files.writeString(scratch.resolve("Dockerfile"), "FROM scratch\nCOPY . /\n");
            Path context = scratch.resolve("context.tar");
            List<String> command = new ArrayList<>(List.of("tar", "--create", "--dereference", "--file=" + context));
            command.addAll(List.of("--directory=" + scratch, "Dockerfile", "--directory=/"));
            filesFor(distribution).forEach(file -> command.add(file.substring(1)));
            linesOf(command);
            try (InputStream files = Files.newInputStream(context)) {
                client.buildImageCmd(files)
                        .withTags(Set.of(IMAGE))
                        .withLabels(LABELS)
                        .exec(new BuildImageResultCallback())
                        .awaitImageId();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The programs, and the shared libraries that they and the distribution need from the system. */
    private static Collection<String> filesFor(Path distribution) {
        List<String> command = new ArrayList<>(List.of("ldd"));
        command.addAll(PROGRAMS);
        Stream.of(
                        "libexec/nccl-host",
                        "lib/libnccl-net-trigon.so",
                        "runtime/lib/server/libjvm.so",
                        "runtime/lib/libnio.so")
                .forEach(file -> command.add(distribution.resolve(file).toString()));
        TreeSet<String> files = new TreeSet<>(PROGRAMS);
        // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)", "/lib64/ld-linux-x86-64.so.2 (0x...)"
        linesOf(command).stream()
                .filter(line -> line.endsWith(")") && line.contains("/"))
                .map(line -> line.substring(line.indexOf('/'), line.lastIndexOf(" (")))
                .filter(file -> !file.startsWith(distribution.toString()))
                .forEach(files::add);
        return files;
    }

    /** Runs a command that must succeed, and returns what it prints. */
    private static List<String> linesOf(List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            List<String> lines;
            try (BufferedReader output = process.inputReader()) {
                lines = output.lines().toList();
            }
            assertThat(process.waitFor()).as("exit status of %s", command).isZero();
            return lines;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
