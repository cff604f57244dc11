package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;

class EnvCommandTest {

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    private Run env(String home, Map<String, String> environment, String... more) throws Exception {
        Path none = Files.writeString(folder.resolve("nccl.conf"), "");
        Map<String, String> all = new HashMap<>(environment);
        all.putIfAbsent("NCCL_CONF_FILE", none.toString());
        String[] command = new String[more.length + 1];
        command[0] = "env";
        System.arraycopy(more, 0, command, 1, more.length);
        return Run.of(new Machine(folder, all, "here", "1.2.3", Optional.of(Path.of(home))), 500, command);
    }

    @Test
    void printsExportsForAnyShellAndNothingElse() throws Exception {
        assertThat(env("/opt/trigon", Map.of())).isEqualTo(new Run(0, """
            export NCCL_NET_PLUGIN=/opt/trigon/lib/libnccl-net-trigon.so
            export NCCL_NET=Trigon
            export NCCL_NET_PLUGIN_REF_COUNT=1
            """, ""));
        assertThat(env("/opt/it's here", Map.of(), "--library-path").out()).startsWith("""
            export LD_LIBRARY_PATH='/opt/it'\\''s here/lib'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
            export NCCL_NET_PLUGIN=trigon
            """);
        assertThat(Run.of("env").err()).contains("env needs a distribution");
        assertThat(JsonObject.parse(env("/opt/it's here", Map.of("LD_LIBRARY_PATH", "/x"), "--library-path", "--json")
                                .out())
                        .object("variables")
                        .values())
                .containsEntry("LD_LIBRARY_PATH", "/opt/it's here/lib:/x")
                .containsEntry("NCCL_NET_PLUGIN", "trigon");
    }

    @Test
    void saysWhatContradictsAsTheDoctorDoes() throws Exception {
        Path file = Files.writeString(folder.resolve("other.conf"), "NCCL_HOSTID=abc\n# NCCL_ALGO=Ring\n");

        Run run = env(
                "/opt/trigon",
                Map.of(
                        "NCCL_NET",
                        "Socket",
                        "NCCL_IB_GID_INDEX",
                        "3",
                        "GLOO_SOCKET_IFNAME",
                        "no-such-nic",
                        "NCCL_CONF_FILE",
                        file.toString()));

        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("export NCCL_NET=Trigon\n");
        assertThat(run.err().lines())
                .anyMatch(line -> line.equals("trigon: NCCL_NET=Socket in the environment: NCCL uses the network"
                        + " Socket alone; these exports override it"))
                .anyMatch(line -> line.contains("NCCL_IB_GID_INDEX=3 in the environment: this affects NCCL's own"))
                .anyMatch(line -> line.contains("GLOO_SOCKET_IFNAME=no-such-nic in the environment"))
                .anyMatch(line -> line.contains("NCCL_HOSTID=abc in " + file))
                .noneMatch(line -> line.contains("NCCL_ALGO"));
    }
}
