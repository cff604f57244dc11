package trigon.tools.enable;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.NcclFile;
import trigon.system.file.ProcessUsers;
import trigon.tools.Run;

class EnableCommandTest {

    /** The default route goes by an interface that NCCL would take last. */
    private static final String ROUTES = """
            Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
            lo 00000000 0100000A 0003 0 0 100 00000000 0 0 0
            """;

    @TempDir
    private Path root = Path.of("/nonexistent"); // until JUnit has set it

    private Path home = root;
    private Path library = root;

    @BeforeEach
    void makeAMachine() throws IOException {
        home = Files.createDirectories(root.resolve("home/me"));
        library = Files.createDirectories(root.resolve("opt/trigon/lib")).resolve("libnccl-net-trigon.so");
        Files.createFile(library);
        file("etc/passwd", "me:x:%d:0::%s:/bin/sh\n".formatted(ProcessUsers.own(), home));
        file("proc/self/net/route", ROUTES);
    }

    private Path file(String name, String text) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private Machine machine(Map<String, String> environment) {
        Map<String, String> all = new HashMap<>(environment);
        all.putIfAbsent("HOME", home.toString());
        return new Machine(root, all, "here", "1.2.3", Optional.of(root.resolve("opt/trigon")));
    }

    private Run run(String... words) {
        return Run.of(machine(Map.of()), 500, words);
    }

    private static String content(Path file) throws IOException {
        return Files.exists(file) ? Files.readString(file) : "none";
    }

    @Test
    void allUsersGetLinesThatNeedNoVariables() throws IOException {
        Run first = run("enable", "--system");

        assertThat(first.err()).isEmpty();
        assertThat(first.status()).isZero();
        assertThat(root.resolve("etc/nccl.conf")).hasContent("""
                # Trigon's lines begin here: "trigon disable" removes them, and this file
                NCCL_NET_PLUGIN=%s
                NCCL_NET_PLUGIN_REF_COUNT=1
                NCCL_SOCKET_IFNAME==lo
                # Trigon's lines end here
                """.formatted(library));
        assertThat(root.resolve("etc/rccl.conf")).hasSameTextualContentAs(root.resolve("etc/nccl.conf"));
        assertThat(machine(Map.of()).environmentOfJob()).containsEntry("NCCL_NET_PLUGIN", library.toString());

        assertThat(run("enable", "--system").out())
                .contains("nccl.conf: has these lines", "rccl.conf: has these lines");
        assertThat(run("disable", "--system").out()).contains("nccl.conf: removed", "rccl.conf: removed");
        assertThat(root.resolve("etc/nccl.conf")).doesNotExist();
        assertThat(run("disable", "--system").out()).contains("nccl.conf: has no lines of Trigon's");
    }

    @Test
    void filesOfTheClusterAndTheRequirementAreSet() throws IOException {
        Path key = file("etc/trigon/cluster.key", "k");
        Path cluster = file("etc/trigon/cluster.yaml", "version: 1\n");
        file("etc/nccl.conf", "NCCL_DEBUG=WARN");

        assertThat(run("enable", "--system", "--required").out())
                .contains("  NCCL_NET=Trigon\n")
                .contains("  TRIGON_CLUSTER_KEY_FILE=" + key + "\n")
                .contains("  TRIGON_CONFIG=" + cluster + "\n");
        assertThat(content(root.resolve("etc/nccl.conf")))
                .startsWith("NCCL_DEBUG=WARN\n# ")
                .contains("\nNCCL_NET=Trigon\n");

        assertThat(run("enable", "--system").status()).isZero();
        assertThat(content(root.resolve("etc/nccl.conf"))).doesNotContain("NCCL_NET=Trigon");
        assertThat(run("disable", "--system").out()).contains("nccl.conf: without Trigon's lines");
        assertThat(content(root.resolve("etc/nccl.conf"))).isEqualTo("NCCL_DEBUG=WARN");
    }

    @Test
    void aDryRunChangesNothing() throws IOException {
        Run run = run("enable", "--user", "--dry-run");

        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains(home.resolve(".nccl.conf") + ": would be written", "  NCCL_NET_PLUGIN=" + library);
        assertThat(home).isEmptyDirectory();
        run("enable", "--user");
        String text = content(home.resolve(".nccl.conf"));
        assertThat(run("disable", "--user", "--dry-run").out()).contains(".nccl.conf: would be removed");
        assertThat(content(home.resolve(".nccl.conf"))).isEqualTo(text);
        assertThat(root.resolve("etc/nccl.conf")).doesNotExist();
    }

    @Test
    void aHomeOfOldAndOneOfNewVersionsBothGetTheLines() throws IOException {
        Path other = Files.createDirectories(root.resolve("home/other"));

        Run run = Run.of(machine(Map.of("HOME", other.toString())), 500, "enable", "--user");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(other.resolve(".nccl.conf")).hasSameTextualContentAs(home.resolve(".nccl.conf"));
    }

    @Test
    void settingsOfOthersStayAndAreNamed() throws IOException {
        Path all = file("etc/nccl.conf", "NCCL_NET_PLUGIN=/other/libnccl-net-trigon.so\n");
        Path own = file("home/me/.nccl.conf", "# mine\nNCCL_SOCKET_IFNAME=eth7\n");

        Run ofUser = run("enable", "--user");

        assertThat(ofUser.status()).isZero();
        assertThat(ofUser.err())
                .contains("trigon: %s:2: NCCL_SOCKET_IFNAME=eth7 wins, and stays\n".formatted(own))
                .contains(
                        "trigon: %s:1: NCCL_NET_PLUGIN=/other/libnccl-net-trigon.so loses, and stays\n".formatted(all));
        Files.writeString(own, content(own) + "NCCL_NET_PLUGIN_REF_COUNT=0\n");
        assertThat(run("enable", "--user").err()).contains(own + ":8: NCCL_NET_PLUGIN_REF_COUNT=0 loses, and stays");
        Files.delete(own);

        Run ofAll = run("enable", "--system");

        assertThat(ofAll.err())
                .contains(all + ":1: NCCL_NET_PLUGIN=/other/libnccl-net-trigon.so wins, and stays")
                .contains("jobs of this shell do not use this Trigon");
        assertThat(ofAll.status()).isEqualTo(1);
        assertThat(content(all)).startsWith("NCCL_NET_PLUGIN=/other");
    }

    @Test
    void whatWinsInThisShellIsNamed() throws IOException {
        Run plugin = Run.of(machine(Map.of("NCCL_NET_PLUGIN", "none")), 500, "enable", "--user");
        assertThat(plugin.err()).contains("NCCL_NET_PLUGIN=none in the environment of this shell wins: unset it");
        assertThat(plugin.status()).isEqualTo(1);

        Run network = Run.of(machine(Map.of("NCCL_NET", "Socket")), 500, "enable", "--user");
        assertThat(network.err()).contains("NCCL_NET=Socket in the environment: NCCL uses the network Socket alone");
        assertThat(network.status()).isEqualTo(1);

        Path named = file("named.conf", "");
        Run replaced = Run.of(machine(Map.of(NcclFile.VARIABLE, named.toString())), 500, "enable", "--user");
        assertThat(replaced.err()).contains("NCCL 2.23 and later reads that file, and not " + home);
        assertThat(replaced.status()).isEqualTo(1);
    }

    @Test
    void whatCannotBeWrittenIsRefused() throws IOException {
        assertThat(run("enable", "--user", "--system").status()).isEqualTo(2);
        assertThat(run("enable", "--user", "--cdi").status()).isEqualTo(2);
        Machine comma =
                new Machine(root, Map.of("HOME", home.toString()), "here", "1.2.3", Optional.of(root.resolve("a,b")));
        assertThat(Run.of(comma, 500, "enable", "--user").err()).contains("no comma", "move the folder");
        assertThat(Run.of(machine(Map.of("HOME", "/nonexistent")), 500, "enable", "--user")
                        .err())
                .contains("do not use this Trigon: another setting wins, or HOME leads elsewhere");
        file("etc/passwd", "");
        assertThat(Run.of(machine(Map.of("HOME", "/nonexistent")), 500, "enable", "--user")
                        .err())
                .contains("there is no home folder");
        file("etc/nccl.conf", "# Trigon's lines end here\n");
        assertThat(run("disable", "--system").err()).contains("etc/nccl.conf is left as it is: line 1 is a marker");
        Files.delete(library);
        assertThat(run("enable", "--user").err()).contains("not a complete distribution");
    }

    @Test
    void theLinkThatStaysNamesTheFolder() throws IOException {
        Path versions = Files.createDirectories(root.resolve("opt/versions"));
        Path version = Files.createSymbolicLink(versions.resolve("1.2.3"), root.resolve("opt/trigon"));
        Files.createSymbolicLink(versions.resolve("current"), Path.of("1.2.3"));
        Machine machine = new Machine(root, Map.of("HOME", home.toString()), "here", "1.2.3", Optional.of(version));

        assertThat(Run.of(machine, 500, "enable", "--user").out())
                .contains("NCCL_NET_PLUGIN=" + versions.resolve("current/lib/libnccl-net-trigon.so"));
    }

    /** Keys that the schema of CDI requires, and no others: it allows none. */
    @Test
    void containersGetTheFolderTheFilesAndTheDevices() throws IOException {
        file("dev/infiniband/uverbs0", "");
        file("dev/infiniband/rdma_cm", "");
        file("etc/trigon/cluster.key", "k");

        assertThat(run("enable", "--system", "--cdi").out()).contains("etc/cdi/trigon.yaml: written");

        String text = content(root.resolve("etc/cdi/trigon.yaml"));
        JsonObject all = JsonObject.parse(text.substring(text.indexOf('\n')));
        assertThat(all.values())
                .containsOnlyKeys("cdiVersion", "kind", "devices")
                .containsEntry("kind", "trigon.dev/net");
        JsonObject device = all.objects("devices").getFirst();
        assertThat(device.values()).containsOnlyKeys("name", "containerEdits").containsEntry("name", "all");
        JsonObject edits = device.object("containerEdits");
        assertThat(edits.values()).containsOnlyKeys("deviceNodes", "mounts");
        assertThat(edits.objects("deviceNodes"))
                .extracting(JsonObject::values)
                .containsExactly(Map.of("path", "/dev/infiniband/rdma_cm"), Map.of("path", "/dev/infiniband/uverbs0"));
        List<String> options = List.of("ro", "nosuid", "nodev", "bind");
        assertThat(edits.objects("mounts"))
                .extracting(JsonObject::values)
                .containsExactlyElementsOf(
                        Stream.of("opt/trigon", "etc/nccl.conf", "etc/rccl.conf", "etc/trigon/cluster.key")
                                .map(name -> root.resolve(name).toString())
                                .map(path -> Map.<String, Object>of(
                                        "hostPath", path, "containerPath", path, "options", options))
                                .toList());

        assertThat(run("enable", "--system", "--cdi").out()).contains("trigon.yaml: has this description");
        assertThat(run("disable", "--system").out()).contains("trigon.yaml: removed");
        file("etc/cdi/trigon.yaml", "mine");
        assertThat(run("enable", "--system", "--cdi").err()).contains("not of trigon enable, and stays");
        assertThat(run("disable", "--system").out()).doesNotContain("trigon.yaml");
    }
}
