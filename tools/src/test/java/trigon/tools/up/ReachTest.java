package trigon.tools.up;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.tools.console.CommandFailure;

class ReachTest {

    private static final String FACTS = """
            Welcome!
            trigon-reach group=users
            processor=x86_64
            glibc=2.36
            free=1000
            """;

    private static Reach.Reached reached(NodeShell.Answer login, NodeShell.Answer root) throws IOException {
        return new Reach((_, asRoot, _, _) -> asRoot ? root : login, Map.of()).node("b");
    }

    private static NodeShell.Answer good(String out) {
        return new NodeShell.Answer(0, out, "");
    }

    @Test
    void factsAreFoundAmongWhatALoginPrints() throws IOException {
        Reach.Reached reached = reached(good(FACTS), good("trigon-reach 0\n"));

        assertThat(reached.group()).isEqualTo("users");
        assertThat(reached.processor()).isEqualTo("x86_64");
        assertThat(reached.freeKib()).isEqualTo(1000);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Host key verification failed.|log in once by hand",
                "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!|ssh-keygen -R b",
                "u@b: Permission denied (publickey).|ssh-copy-id b",
                "ssh: connect to host b port 22: Connection timed out|check that the node is up"
            })
    void aLoginThatFailsHasItsRemedy(String said, String remedy) {
        assertThatThrownBy(() -> reached(new NodeShell.Answer(255, "", said), good("")))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining(said)
                .hasMessageContaining(remedy);
    }

    @Test
    void withoutSudoThePasswordOrARightIsMissing() {
        assertThatThrownBy(() -> reached(good(FACTS), new NodeShell.Answer(1, "", "sudo: a password is required")))
                .hasMessageContaining("--ask-sudo");
        assertThatThrownBy(() -> reached(good(FACTS), new NodeShell.Answer(127, "", "exec: sudo: not found")))
                .hasMessageContaining("root@b");
    }

    @Test
    void aClockThatIsWrongIsSaid() {
        assertThatThrownBy(() -> reached(good(FACTS + "clock=1000\n"), good("trigon-reach 0\n")))
                .hasMessageContaining("timedatectl set-ntp true");
    }

    @Test
    void aNameWithoutAnAddressIsSaid() {
        SshTarget nowhere = new SshTarget("no-such-host.invalid", 22, "x", Path.of("x"), false);
        assertThatThrownBy(() -> new Reach((_, _, _, _) -> good(FACTS), Map.of("b", nowhere)).node("b"))
                .hasMessageContaining("no-such-host.invalid has no address here")
                .hasMessageContaining("/etc/hosts");
    }

    @Test
    void sshSaysWhereItConnects() {
        SshTarget target = SshTarget.read(
                "user me\nhostname 10.0.0.7\nport 2222\nuserknownhostsfile ~/.ssh/known ~/.ssh/more\n",
                "b",
                Path.of("/home/me"));

        assertThat(target)
                .isEqualTo(new SshTarget("10.0.0.7", 2222, "[10.0.0.7]:2222", Path.of("/home/me/.ssh/known"), false));
        assertThat(SshTarget.read("proxyjump jump\n", "b", Path.of("/")).isProxied())
                .isTrue();
    }

    /** The fingerprint is the one that ssh-keygen(1) shows. */
    @Test
    void keysThatAreShownAreKeptAsTheyWere(@TempDir Path folder) throws IOException {
        SshTarget target = new SshTarget("10.0.0.7", 22, "10.0.0.7", folder.resolve("ssh/known"), false);
        HostKeys keys = HostKeys.read(target, """
                # 10.0.0.7:22 SSH-2.0-x
                evil ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2kLDCdcXLjUAUQ1LFaVWvkMSDhe0aZPMTzLt2lF4V2
                10.0.0.7 ssh-rsa not;base64
                """);

        assertThat(keys.keys())
                .singleElement()
                .satisfies(key ->
                        assertThat(key.fingerprint()).startsWith("SHA256:").hasSize(50));
        keys.keep();
        assertThat(Files.readAllLines(folder.resolve("ssh/known")))
                .as("under the name that ssh looks for")
                .isEqualTo(List.of(
                        "10.0.0.7 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2kLDCdcXLjUAUQ1LFaVWvkMSDhe0aZPMTzLt2lF4V2"));
    }
}
