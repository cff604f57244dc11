package trigon.tools.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import trigon.cluster.machine.Machine;

/** What other nodes are told of this machine's settings. */
class ReachOptionsTest {

    private static List<String> command(String via, Map<String, String> environment) {
        ReachOptions reach = new ReachOptions();
        new CommandLine(new Holder(reach)).parseArgs("--remote", "/opt/trigon", "--via", via);
        return reach.trigonWithSettings(
                new Machine(Path.of("/"), environment, "here", "1.2.3", Optional.empty()), List.of("bench"));
    }

    @CommandLine.Command
    private record Holder(@CommandLine.Mixin ReachOptions reach) {}

    @Test
    void theSettingsOfAllNodesAreTold() {
        Map<String, String> environment = Map.of(
                "TRIGON_LINKS",
                "software",
                "TRIGON_CONFIG",
                "/etc/trigon one.yaml",
                "TRIGON_NODE",
                "a",
                "TRIGON_HOME",
                "/opt/here",
                "TRIGON_CONTAINERS",
                "x",
                "TRIGON".concat("_PASSWORD"),
                "no setting",
                "NCCL_DEBUG",
                "INFO");

        assertThat(command("ssh", environment))
                .containsExactlyInAnyOrder(
                        "env", "TRIGON_LINKS=software", "'TRIGON_CONFIG=/etc/trigon one.yaml'", "/opt/trigon", "bench")
                .startsWith("env")
                .endsWith("/opt/trigon", "bench");
    }

    @Test
    void onlyAShellNeedsQuotes() {
        Map<String, String> environment = Map.of("TRIGON_JAVA_OPTS", "-Xmx1g $(it's)");

        assertThat(command("/usr/bin/ssh -o BatchMode=yes", environment))
                .containsExactly("env", "'TRIGON_JAVA_OPTS=-Xmx1g $(it'\\''s)'", "/opt/trigon", "bench");
        assertThat(command("docker exec -i", environment))
                .containsExactly("env", "TRIGON_JAVA_OPTS=-Xmx1g $(it's)", "/opt/trigon", "bench");
    }

    private static String typed(String command, String... options) {
        ReachOptions reach = new ReachOptions();
        new CommandLine(new Holder(reach)).parseArgs(options);
        return reach.typed("b", command);
    }

    /** What somebody types here does the same there, whether a shell takes it or not. */
    @Test
    void remediesAreTypedByWhatReachesANode() {
        assertThat(typed("ip link set eth1 up")).isEqualTo("ssh b ip link set eth1 up");
        assertThat(typed("nft list ruleset; iptables -S")).isEqualTo("ssh b 'nft list ruleset; iptables -S'");
        assertThat(typed("ip link set eth1 up", "--via", "docker exec -i"))
                .isEqualTo("docker exec -i b ip link set eth1 up");
        assertThat(typed("echo it's && true", "--via", "docker exec -i"))
                .isEqualTo("docker exec -i b sh -c 'echo it'\\''s && true'");
        assertThat(typed("true", "--via", "ssh -p 2222")).isEqualTo("ssh -p 2222 b true");
    }

    @Test
    void whereNothingIsSetThereIsNothingToTell() {
        assertThat(command("ssh", Map.of("PATH", "/bin"))).containsExactly("/opt/trigon", "bench");
    }
}
