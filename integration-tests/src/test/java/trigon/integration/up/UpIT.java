package trigon.integration.up;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.testsupport.Await;
import trigon.testsupport.Samples;

/** {@code trigon up} and {@code down}, on machines with sshd, sudo and cables. */
@Timeout(600)
@ResourceLock("machines")
class UpIT {

    private static final Path DISTRIBUTION =
            Path.of(System.getProperty("trigon.distribution")).toAbsolutePath().normalize();

    /** Of the nodes' own timers. */
    private static final int UNDO_SECONDS = 12;

    private static final int COMMAND_SECONDS = 300;

    private static final String PASSWORD = "correct horse";

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    private @Nullable SshNodes made;
    private int runs;

    @AfterEach
    void stop() {
        if (made != null) {
            made.close();
        }
    }

    /** With the distribution, unless a test has started others. */
    private SshNodes nodes() {
        try {
            SshNodes nodes = made == null ? SshNodes.start(folder, DISTRIBUTION, true) : made;
            made = nodes;
            return nodes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Ended(int status, String out, String err) {}

    private final class Running implements AutoCloseable {

        private final Path out = folder.resolve("out" + ++runs);
        private final Path err = folder.resolve("err" + runs);
        private final Process process;

        Running(List<String> command) throws IOException {
            process = new ProcessBuilder(command)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
        }

        boolean hasSaid(String text) {
            return has(err, text);
        }

        boolean hasShown(String text) {
            return has(out, text);
        }

        private static boolean has(Path file, String text) {
            try {
                return Files.readString(file).contains(text);
            } catch (IOException _) {
                return false;
            }
        }

        Ended end() throws Exception {
            assertThat(process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS)).isTrue();
            return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    private Running up(String... options) throws IOException {
        List<String> command = new ArrayList<>(nodes().trigon("up", "--undo-after", Integer.toString(UNDO_SECONDS)));
        command.addAll(List.of(options));
        return new Running(command);
    }

    private Ended ended(String answer, List<String> command) throws Exception {
        try (Running run = new Running(command)) {
            try (var in = run.process.outputWriter()) {
                in.write(answer);
            }
            return run.end();
        }
    }

    private Map<String, String> states() {
        Map<String, String> states = new LinkedHashMap<>();
        SshNodes.NAMES.forEach(node -> states.put(node, nodes().state(node)));
        return states;
    }

    @Test
    void upAsksOnceAndAgainChangesNothingAndDownTakesEverythingBack() throws Exception {
        Map<String, String> before = states();

        Ended dry = ended("", nodes().trigon("up", "--dry-run"));
        assertThat(dry.status()).as(dry.err()).isZero();
        assertThat(dry.out()).contains("+ 10.77.0.1/24", "Nothing was changed.");
        assertThat(states()).isEqualTo(before);

        Ended first = ended("y\n", nodes().trigon("up"));
        assertThat(first.status()).as(first.err() + first.out()).isZero();
        assertThat(first.err()).containsOnlyOnce("[y/N]");
        assertThat(first.out())
                .contains("3 nodes, 3 cables", "+ 10.77.0.1/24", "all-reduce", "b and c", "torchrun --nnodes 3");
        assertThat(nodes().root("a", "ip -o addr show dev eth1")).contains("10.77.0.1/24");
        assertThat(nodes().root("a", "cat /etc/network/interfaces.d/trigon-eth2"))
                .contains("iface eth2 inet static");
        assertThat(nodes().root("a", "cat /etc/systemd/system/trigon-eth1.service"))
                .contains("10.77.0.1/24");
        assertThat(nodes().root("b", "cat /etc/nccl.conf")).contains("NCCL_SOCKET_IFNAME==eth0", "cluster.key");
        assertThat(nodes().root("b", "stat -c '%a %G' /etc/trigon/cluster.key")).isEqualTo("640 tester\n");
        assertThat(nodes().root("c", "cat /etc/hosts"))
                .contains("192.168.198.3 c.test c")
                .doesNotContain("127.0.1.1");
        String key = nodes().root("a", "cat /etc/trigon/cluster.key");
        assertThat(key).hasSize(65).isEqualTo(nodes().root("c", "cat /etc/trigon/cluster.key"));
        assertThat(first.out() + first.err()).doesNotContain(key.strip());

        Map<String, String> after = states();
        Ended again = ended("", nodes().trigon("up"));
        assertThat(again.status()).as(again.err()).isZero();
        assertThat(again.out()).contains("Nothing has to be changed");
        assertThat(again.err()).doesNotContain("[y/N]");
        assertThat(states()).isEqualTo(after);

        Ended down = ended("", nodes().trigon("down", "--yes"));
        assertThat(down.status()).as(down.err()).isZero();
        assertThat(states()).isEqualTo(before);
    }

    /** Nodes hear each other by IPv6; b has it for the time of the look. */
    @Test
    @Tag("long")
    void ipv6ThatIsSwitchedOffAndAFileThatWasChangedSinceStaySo() throws Exception {
        var _ = nodes().root("b", "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6");
        Map<String, String> before = states();

        Ended no = ended("n\n", nodes().trigon("up"));
        assertThat(no.out()).as(no.err()).contains("3 nodes, 3 cables", "Nothing was changed.");
        assertThat(states()).isEqualTo(before);
        Ended up = ended("", nodes().trigon("up", "--yes"));
        assertThat(up.status()).as(up.err() + up.out()).isZero();
        assertThat(nodes().root("b", "cat /proc/sys/net/ipv6/conf/eth*/disable_ipv6"))
                .isEqualTo("1\n1\n1\n");
        var _ = nodes().root("b", "echo NCCL_DEBUG=INFO >>/etc/nccl.conf");

        Ended down = ended("", nodes().trigon("down", "--yes"));
        assertThat(down.status()).isZero();
        assertThat(down.out()).contains("/etc/nccl.conf was changed since", "> NCCL_DEBUG=INFO");
        assertThat(nodes().root("b", "cat /etc/nccl.conf")).contains("NCCL_DEBUG=INFO");
        var _ = nodes().root("b", "rm /etc/nccl.conf");
        assertThat(states()).isEqualTo(before);
    }

    /** On b, sudo asks for none; on the others, for one that is given once. */
    @Test
    @Tag("long")
    void whatIsMissingIsCopiedAndPurgedWithThePasswordOfSudo() throws Exception {
        made = SshNodes.start(folder, DISTRIBUTION, false);
        for (String node : List.of("a", "c")) {
            var _ = nodes().root(
                            node,
                            "echo tester:%s | chpasswd && echo 'tester ALL=(ALL) ALL' >/etc/sudoers.d/tester"
                                    .formatted(PASSWORD));
        }
        Map<String, String> before = states();

        assertThat(nodes().root("a", "ls /opt")).doesNotContain("trigon");
        assertThat(endedAtTerminal("wrong", nodes().trigon("up", "--yes", "--ask-sudo")))
                .contains("a: no root", "c: no root")
                .doesNotContain("b: no root");
        assertThat(endedAtTerminal(PASSWORD, nodes().trigon("up", "--yes", "--ask-sudo")))
                .contains("3 nodes, 3 cables", "all-reduce", "torchrun --nnodes 3");
        assertThat(nodes().root("a", "stat -c '%U %a' /opt/trigon /opt/trigon/bin/trigon"))
                .isEqualTo("root 755\nroot 755\n");
        assertThat(endedAtTerminal(PASSWORD, nodes().trigon("down", "--yes", "--ask-sudo", "--purge")))
                .contains("a: as before", "b: as before", "c: as before");
        assertThat(states()).isEqualTo(before);
    }

    /** Answers the question for a password, and returns all that the terminal shows. */
    private String endedAtTerminal(String password, List<String> command) throws Exception {
        String line = command.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        try (Running run = new Running(List.of("script", "-qec", line, "/dev/null"))) {
            Await.until("the question", Duration.ofSeconds(60), () -> run.hasShown("Password of sudo"));
            try (var in = run.process.outputWriter()) {
                in.write(password + "\n");
            }
            String shown = run.end().out();
            assertThat(shown).doesNotContain(password);
            return shown;
        }
    }

    /** The first is where most has been changed. */
    static List<String> stages() {
        return Samples.of(List.of("enable", "look", "try", "verify", "keep", "key", "check", "bench"));
    }

    @ParameterizedTest
    @MethodSource("stages")
    void aRunThatIsKilledIsUndoneByTheNodes(String stage) throws Exception {
        Map<String, String> before = states();
        try (Running up = up("--yes")) {
            Await.until("up: " + stage, Duration.ofSeconds(COMMAND_SECONDS), () -> up.hasSaid("up: " + stage));
        }

        Await.until("nodes are as before", Duration.ofSeconds(3 * UNDO_SECONDS), () -> states().equals(before));
    }

    /** The node undoes itself, and the others are told to. */
    @Test
    @Tag("long")
    void aNodeThatIsOutOfReachUndoesItself() throws Exception {
        Map<String, String> before = states();
        try (Running up = up("--yes")) {
            Await.until("up: keep", Duration.ofSeconds(COMMAND_SECONDS), () -> up.hasSaid("up: keep"));
            nodes().plug("b", false);
            Ended ended = up.end();
            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.err()).contains("b: ", "as before within " + UNDO_SECONDS + " s");
        }
        nodes().plug("b", true);

        Await.until("nodes are as before", Duration.ofSeconds(3 * UNDO_SECONDS), () -> states().equals(before));
    }

    /** All nodes are tried. */
    @Test
    void eachNodeThatIsNotReachedHasItsRemedy() throws Exception {
        Map<String, String> before = states();
        Path known = nodes().file("known");
        Path right = Files.copy(known, folder.resolve("right"));
        Files.writeString(nodes().file("b/authorized"), "");
        var _ = nodes().root("c", "rm /etc/sudoers.d/tester");
        Files.write(
                known,
                Files.readAllLines(known).stream()
                        .map(line -> line.replaceFirst("^192.168.198.1 .*", Files.exists(right) ? otherKey() : ""))
                        .toList());

        Ended failed = ended("", nodes().trigon("up", "--yes"));
        assertThat(failed.status()).isEqualTo(1);
        assertThat(failed.err())
                .contains("a: no login", "has changed", "ssh-keygen -R a")
                .contains("b: no login", "ssh-copy-id b")
                .contains("c: no root", "--ask-sudo");
        assertThat(Files.readString(known)).as("no key is removed").contains(otherKey());

        Files.copy(nodes().file("id.pub"), nodes().file("b/authorized"), StandardCopyOption.REPLACE_EXISTING);
        var _ = nodes().root("c", "echo 'tester ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/tester");
        Files.write(known, Files.readAllLines(right).subList(1, 3));
        Ended unknown = ended("", nodes().trigon("up", "--dry-run"));
        assertThat(unknown.out()).contains("is not known here. It shows:", "ssh-ed25519 SHA256:");
        assertThat(unknown.err()).contains("its host key was not accepted");

        Ended accepted = ended("y\n", nodes().trigon("up", "--dry-run"));
        assertThat(accepted.status()).as(accepted.err()).isZero();
        assertThat(Files.readString(known))
                .contains(Files.readAllLines(right).getFirst().split(" ", -1)[2]);
        assertThat(states().get("b")).isEqualTo(before.get("b"));
    }

    private String otherKey() {
        try {
            return "192.168.198.1 "
                    + Files.readString(nodes().file("b/host.pub")).split(" ", -1)[0] + " "
                    + Files.readString(nodes().file("b/host.pub")).split(" ", -1)[1];
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
