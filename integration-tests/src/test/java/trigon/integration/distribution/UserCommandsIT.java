package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;

/** Commands of the distribution that run the real plugin, or look at processes that have it. */
@Timeout(300)
class UserCommandsIT {

    private static final String TRIGON =
            HostProgram.distribution().resolve("bin/trigon").toString();
    private static final long DEADLINE_SECONDS = 240;

    @TempDir
    Path directory;

    /** A node with the loopback alone, whose counters say what went over it. */
    private Map<String, String> loopback() throws IOException {
        Path file = Files.writeString(directory.resolve("trigon.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 127.0.31.1/24}]}
                """);
        return Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a");
    }

    private Process start(String name, Map<String, String> environment, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(directory.resolve(name + ".out").toFile())
                .redirectError(directory.resolve(name + ".err").toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }

    private String output(String name, Process process) throws Exception {
        boolean ended = process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        String errors = Files.readString(directory.resolve(name + ".err"), StandardCharsets.UTF_8);
        String output = Files.readString(directory.resolve(name + ".out"), StandardCharsets.UTF_8);
        assertThat(ended).as("%s has ended: %s %s", name, output, errors).isTrue();
        assertThat(output).as("what %s says; and on stderr: %s", name, errors).isNotEmpty();
        return output;
    }

    /** {@link HelpIT} tries what is printed without Java. */
    @Test
    void helpAfterOtherOptionsIsJavasInAsManyColumnsAsTheEnvironmentSays() throws Exception {
        String help =
                output("help", start("help", Map.of("COLUMNS", "60"), List.of(TRIGON, "links", "--json", "--help")));

        assertThat(help).startsWith("Usage: trigon links");
        assertThat(help.lines()).allMatch(line -> line.length() <= 60).anyMatch(line -> line.length() > 50);
    }

    @Test
    @Tag("long")
    void benchOnOneMachineUnderVerify() throws Exception {
        Process process = start(
                "verify",
                loopback(),
                List.of(TRIGON, "verify", "--json", "--", TRIGON, "bench", "--sizes", "64K,1M", "--ranks", "3"));
        String output = output("verify", process);

        assertThat(Files.readString(directory.resolve("verify.err")))
                .contains("point-to-point", "all-reduce", "all 3", " via lo ");
        assertThat(output)
                .contains(
                        "\"schema\": \"trigon.verify/1\"", "\"wrong\": []", "\"good\": true", "libnccl-net-trigon.so");
        assertThat(process.exitValue()).isZero();
    }

    @Test
    void benchBetweenTwoNodes() throws Exception {
        try (CableNamespaces lab = CableNamespaces.open()) {
            lab.node("a");
            lab.node("b");
            lab.cable("a", "ab", "10.9.41.1/24", "b", "ba", "10.9.41.2/24");
            List<Process> ranks = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                List<String> command = new ArrayList<>(lab.by(rank == 0 ? "a" : "b"));
                command.addAll(List.of(TRIGON, "bench", "--meet", "10.9.41.1:7600", "--ranks", "2"));
                command.addAll(List.of("--rank", Integer.toString(rank), "--sizes", "64K", "--json"));
                ranks.add(start("rank-" + rank, Map.of("TRIGON_LINKS", "software"), command));
            }
            // whether it is fast enough for the cable depends on the machine
            for (int rank = 0; rank < 2; rank++) {
                assertThat(output("rank-" + rank, ranks.get(rank)))
                        .contains("\"schema\": \"trigon.bench/1\"", "point-to-point", "all-reduce")
                        .contains(rank == 0 ? " via ab " : " via ba ", "\"wrong\": 0", "promises")
                        .contains("sends to " + InetAddress.getLocalHost().getHostName() + " 10.9.41.");
            }
        }
    }

    @Test
    @Tag("long")
    void benchStartsTheOtherNodesRank() throws Exception {
        try (CableNamespaces lab = CableNamespaces.open()) {
            lab.node("a");
            lab.node("b");
            lab.cable("a", "ab", "10.9.42.1/24", "b", "ba", "10.9.42.2/24");
            List<String> command = new ArrayList<>(lab.by("a"));
            String there = String.join(" ", lab.by("b"));
            String here = InetAddress.getLocalHost().getHostName();
            // the last word is the name of the node, which the program that reaches it is given last
            int name = there.lastIndexOf(' ');
            command.addAll(List.of(TRIGON, "bench", "--nodes", here + "," + there.substring(name + 1)));
            command.addAll(List.of("--via", there.substring(0, name), "--meet", "10.9.42.1:7600"));
            command.addAll(List.of("--decode", "--sizes", "64K", "--json"));

            assertThat(output("nodes", start("nodes", Map.of("TRIGON_LINKS", "software"), command)))
                    .contains("\"schema\": \"trigon.bench/1\"", "point-to-point", "\"decode\"", "p99Micros")
                    .contains(" via ab ", "\"wrong\": 0", "\"good\": true");
        }
    }
}
