package trigon.integration.up;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import trigon.testsupport.Await;

/**
 * Machines a, b and c with sshd and sudo: each a network namespace with a root of its own, which begins as this
 * machine's and goes with it. They share a LAN on eth0, and have a cable to each other. Commands run on a fourth one.
 */
final class SshNodes implements AutoCloseable {

    static final List<String> NAMES = List.of("a", "b", "c");

    private static final String LAN = "192.168.198.";
    private static final int SECONDS = 60;

    private static final String INSTALL = """
            mkdir -p "$root/opt/trigon"
            mount --bind DISTRIBUTION "$root/opt/trigon"
            mount -o remount,bind,ro "$root/opt/trigon"
            """;

    private final String prefix = "up" + ProcessHandle.current().pid() + "-";
    private final Path folder;
    private final Path distribution;
    private final boolean installed;
    private final List<Process> machines = new ArrayList<>();

    private SshNodes(Path folder, Path distribution, boolean installed) {
        this.folder = folder;
        this.distribution = distribution;
        this.installed = installed;
    }

    /**
     * Starts them. Skips the test where they cannot be; fails where the build must have all it needs.
     *
     * @param installed whether they have the distribution
     */
    static SshNodes start(Path folder, Path distribution, boolean installed) throws IOException {
        boolean possible = Stream.of("ip", "unshare", "sshd", "ssh-keygen", "sudo")
                        .allMatch(program -> succeeds("sh", "-c", "command -v " + program))
                && succeeds("ip", "netns", "add", "up-probe")
                && succeeds("ip", "netns", "del", "up-probe");
        if ("required".equals(System.getenv("TRIGON_CONTAINERS"))) {
            assertThat(possible).as("root, ip, sshd and sudo").isTrue();
        }
        assumeTrue(possible, "machines with ssh need root, iproute2, openssh-server and sudo");
        SshNodes nodes = new SshNodes(folder, distribution, installed);
        try {
            nodes.start();
            return nodes;
        } catch (IOException | RuntimeException | Error e) {
            nodes.close();
            throw e;
        }
    }

    private void start() throws IOException {
        run("ssh-keygen", "-qt", "ed25519", "-N", "", "-f", folder.resolve("id").toString());
        ip("netns add " + prefix + "lan");
        ip("-n %slan link add br0 type bridge".formatted(prefix));
        ip("-n %slan addr add %s254/24 dev br0".formatted(prefix, LAN));
        ip("-n %slan link set br0 up".formatted(prefix));
        StringBuilder config = new StringBuilder();
        StringBuilder known = new StringBuilder();
        for (String node : NAMES) {
            String address = LAN + (NAMES.indexOf(node) + 1);
            network(node, address);
            Path own = Files.createDirectory(folder.resolve(node));
            run(
                    "ssh-keygen",
                    "-qt",
                    "ed25519",
                    "-N",
                    "",
                    "-f",
                    own.resolve("host").toString());
            known.append(address).append(' ').append(Files.readString(own.resolve("host.pub")));
            config.append("Host %s\n  HostName %s\n".formatted(node, address));
            Files.copy(folder.resolve("id.pub"), own.resolve("authorized"));
            Files.writeString(own.resolve("sshd_config"), """
                    ListenAddress %s
                    HostKey /lab/host
                    AuthorizedKeysFile /lab/authorized
                    StrictModes no
                    UsePAM yes
                    PidFile none
                    PermitRootLogin yes
                    """.formatted(address));
        }
        Files.writeString(folder.resolve("known"), known);
        Files.writeString(folder.resolve("config"), config + """
                Host *
                  User tester
                  IdentityFile %1$s/id
                  IdentitiesOnly yes
                  UserKnownHostsFile %1$s/known
                  GlobalKnownHostsFile none
                """.formatted(folder));
        cable("a eth1", "b eth1");
        cable("a eth2", "c eth1");
        cable("b eth2", "c eth2");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (String node : NAMES) {
            machines.add(machine(node));
        }
        for (String node : NAMES) {
            Await.until(node + " lets root log in", () -> succeeds(ssh(node, "true")));
        }
    }

    private void network(String node, String address) {
        ip("netns add " + prefix + node);
        ip("-n %s%s link set lo up".formatted(prefix, node));
        ip("-n %1$s%2$s link add eth0 type veth peer name to-%2$s netns %1$slan".formatted(prefix, node));
        ip("-n %slan link set to-%s master br0 up".formatted(prefix, node));
        ip("-n %s%s addr add %s/24 dev eth0".formatted(prefix, node, address));
        ip("-n %s%s link set eth0 up".formatted(prefix, node));
    }

    private void cable(String one, String other) {
        String[] from = one.split(" ", -1);
        String[] to = other.split(" ", -1);
        ip("-n %1$s%2$s link add %3$s type veth peer name %4$s netns %1$s%5$s"
                .formatted(prefix, from[0], from[1], to[1], to[0]));
        ip("-n %s%s link set %s up".formatted(prefix, from[0], from[1]));
        ip("-n %s%s link set %s up".formatted(prefix, to[0], to[1]));
    }

    /** Everything that it mounts goes with it, and so does every process. */
    private Process machine(String node) throws IOException {
        Path own = folder.resolve(node);
        Path script = Files.writeString(own.resolve("start.sh"), """
                set -e
                hostname %1$s
                mount --make-rprivate /
                mkdir -p %2$s/files %2$s/root
                mount -t tmpfs tmpfs %2$s/files
                mkdir %2$s/files/upper %2$s/files/work
                root=%2$s/root
                mount -t overlay overlay -o lowerdir=/,upperdir=%2$s/files/upper,workdir=%2$s/files/work "$root"
                cp -a /etc %2$s/files/etc # others change this machine's meanwhile
                rm -rf %2$s/files/etc/netns
                mount --bind %2$s/files/etc "$root/etc"
                mount -t proc proc "$root/proc"
                mount -t sysfs sysfs "$root/sys"
                mount --rbind /dev "$root/dev"
                mount -t tmpfs tmpfs "$root/run"
                mkdir -p "$root/run/sshd" "$root/lab" "$root/opt"
                mount --bind %2$s "$root/lab"
                %3$s
                chroot "$root" useradd -m tester
                echo 'tester ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/tester"
                mkdir -p "$root/etc/network/interfaces.d"
                printf 'iface eth2 inet manual\\n' >"$root/etc/network/interfaces.d/cables"
                printf '127.0.0.1 localhost\\n127.0.1.1 %1$s.test %1$s\\n' >"$root/etc/hosts"
                exec chroot "$root" /usr/sbin/sshd -D -e -f /lab/sshd_config
                """.formatted(
                        node, own, installed ? INSTALL.replace("DISTRIBUTION", distribution.toString()) : ""));
        return new ProcessBuilder(Stream.of(
                                List.of("ip", "netns", "exec", prefix + node),
                                List.of("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child"),
                                List.of("sh", script.toString()))
                        .flatMap(List::stream)
                        .toList())
                .redirectErrorStream(true)
                .redirectOutput(own.resolve("log").toFile())
                .start();
    }

    /** A file of the lab: {@code known}, or {@code a/authorized}. */
    Path file(String name) {
        return folder.resolve(name);
    }

    /** Command that runs {@code trigon} beside the nodes, on their LAN. */
    List<String> trigon(String command, String... options) {
        List<String> words = new ArrayList<>(List.of(
                "ip",
                "netns",
                "exec",
                prefix + "lan",
                distribution.resolve("bin/trigon").toString(),
                command));
        words.addAll(NAMES);
        words.addAll(List.of("--via", "ssh -F %s/config -o BatchMode=yes -o ConnectTimeout=5".formatted(folder)));
        words.addAll(List.of(options));
        return words;
    }

    /** Pulls a node's plug out of the LAN, or puts it in. */
    void plug(String node, boolean in) {
        ip("-n %slan link set to-%s %s".formatted(prefix, node, in ? "up" : "down"));
    }

    private String[] ssh(String node, String command) {
        return Stream.of(
                        List.of("ip", "netns", "exec", prefix + "lan", "ssh", "-F", folder + "/config", "-l", "root"),
                        List.of("-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "StrictHostKeyChecking=no"),
                        List.of("-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", node, command))
                .flatMap(List::stream)
                .toArray(String[]::new);
    }

    /** Runs a command as root on a node, and returns what it prints. */
    String root(String node, String command) {
        return run(ssh(node, command));
    }

    /** Addresses, MTUs and states of a node, and all below /etc: names, owners, modes, times and content. */
    String state(String node) {
        return root(node, """
                ip -o addr | sed 's/ *valid_lft.*//; s/ tentative//'
                ip -o link | sed 's/ qdisc.*//'
                ls /opt /var/lib/trigon 2>&1
                cd /etc
                find . -type d | sort
                find . -type f -o -type l | sort | xargs stat -c '%n %a %U %G %Y %s'
                find . -type f | sort | xargs sha256sum
                """);
    }

    private static void ip(String arguments) {
        var _ = run(Stream.concat(Stream.of("ip"), Stream.of(arguments.split(" ", -1)))
                .toArray(String[]::new));
    }

    private static String run(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue())
                    .as(String.join(" ", command) + ": " + out)
                    .isZero();
            return out;
        } catch (IOException e) {
            throw new AssertionError(String.join(" ", command), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private static boolean succeeds(String... command) {
        try {
            var _ = run(command);
            return true;
        } catch (AssertionError _) {
            return false;
        }
    }

    @Override
    public void close() {
        machines.forEach(Process::destroyForcibly);
        for (Process each : machines) {
            each.onExit().join();
        }
        Stream.concat(NAMES.stream(), Stream.of("lan")).forEach(node -> {
            var _ = succeeds("ip", "netns", "del", prefix + node);
        });
    }
}
