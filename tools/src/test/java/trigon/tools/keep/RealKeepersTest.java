package trigon.tools.keep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.InterfaceAddress;

/**
 * NetworkManager and systemd-networkd themselves, in namespaces of their own, on a cable to which another file gives an
 * address. They take what a keeper writes, also when the machine starts again, and in the end the other file has the
 * interface as before.
 */
@Timeout(200)
class RealKeepersTest {

    private static final int SECONDS = 180;
    private static final WantedNic NIC = new WantedNic(
            "cab0",
            9000,
            List.of(),
            List.of(InterfaceAddress.parse("10.77.1.1/24"), InterfaceAddress.parse("fd00:77::1/64")));

    private static final String NEEDED = """
            command -v NetworkManager && command -v dbus-daemon && [ -x /lib/systemd/systemd-networkd ] &&
              unshare -m -n -p -f true
            """;

    /** The daemon's part has its folders, how it starts, what it forgets in a restart, and the other file's path. */
    private static final String PLAY = """
            set -eu
            mount --make-rprivate /
            mount -t tmpfs run /run
            mount -t sysfs -o ro sys /sys # says that there is no udev to wait for
            mkdir -p /run/dbus
            state() {
              ip -o addr show dev cab0 scope global | awk '{print $4}' | sort | paste -s -d ' '
            }
            await() { # STATE
              for _ in $(seq 400); do
                [ "$(state)" != "$1" ] || return 0
                sleep 0.1
              done
              echo "not $1 within 40 s, but $(state)"
              exit 1
            }
            boot() {
              ip link add cab0 type veth peer name cab1
              ip link set cab1 up mtu 9000
              start &
              daemon=$!
            }
            lay_folders
            cp other "$other"
            chmod "$(cat mode)" "$other"
            before=$(sha256sum "$(dirname "$other")"/*)
            ip link set lo up
            dbus-daemon --system --fork
            boot
            await 192.168.50.1/24
            path=$(cat path)
            install -m "$(cat mode)" kept "$path"
            sh -e reread
            sh -e activate
            await '10.77.1.1/24 fd00:77::1/64'
            ip -o link show dev cab0 | grep ' mtu 9000 '
            kill "$daemon"
            wait "$daemon" || :
            ip link delete cab0
            forget
            boot
            await '10.77.1.1/24 fd00:77::1/64'
            ip -o link show dev cab0 | grep ' mtu 9000 '
            rm "$path"
            sh -e reread
            sh -e release
            await 192.168.50.1/24
            [ "$(sha256sum "$(dirname "$other")"/*)" = "$before" ]
            kill "$daemon"
            """;

    private static final String NETWORK_MANAGER = """
            other=/etc/NetworkManager/system-connections/other.nmconnection
            lay_folders() {
              mount -t tmpfs etc /etc/NetworkManager
              mount -t tmpfs lib /var/lib/NetworkManager
              mkdir /etc/NetworkManager/system-connections /etc/NetworkManager/conf.d
              printf '[main]\\nplugins=keyfile\\nauth-polkit=false\\ndns=none\\n' \\
                >/etc/NetworkManager/NetworkManager.conf
            }
            forget() { rm -rf /run/NetworkManager; }
            start() { exec NetworkManager --no-daemon; }
            """;

    private static final String OTHER_PROFILE = """
            [connection]
            id=other
            type=ethernet
            interface-name=cab0

            [ipv4]
            method=manual
            address1=192.168.50.1/24

            [ipv6]
            method=disabled
            """;

    private static final String NETWORKD = """
            other=/etc/systemd/network/10-other.network
            lay_folders() {
              mount -t tmpfs etc /etc/systemd/network
              mkdir -p /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp
              chown -R systemd-network:systemd-network /run/systemd/netif
            }
            forget() { find /run/systemd/netif -type f -delete; }
            start() { exec /lib/systemd/systemd-networkd; }
            """;

    private static final String OTHER_NETWORK = """
            [Match]
            Name=cab0

            [Network]
            Address=192.168.50.1/24
            """;

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    @Test
    void networkManagerTakesItsProfile() throws Exception {
        play(new NetworkManagerKeeper(), NETWORK_MANAGER, OTHER_PROFILE);
    }

    @Test
    void networkdTakesItsFile() throws Exception {
        play(new NetworkdKeeper(), NETWORKD, OTHER_NETWORK);
    }

    private void play(Keeper keeper, String daemon, String other) throws Exception {
        boolean possible = succeeds("sh", "-c", NEEDED);
        if ("required".equals(System.getenv("TRIGON_CONTAINERS"))) {
            assertThat(possible)
                    .as("root, NetworkManager, systemd-networkd and dbus-daemon")
                    .isTrue();
        }
        assumeTrue(possible, "this needs root, NetworkManager, systemd-networkd and dbus-daemon");
        LastingFile kept = keeper.files(NIC).getFirst();
        write("other", other);
        write("path", kept.path());
        write("mode", kept.mode());
        write("kept", kept.text());
        write("reread", String.join("\n", keeper.reread(NIC)));
        write("activate", String.join("\n", keeper.activate(NIC)));
        write("release", String.join("\n", keeper.release(NIC)));

        String play = daemon + PLAY;
        boolean succeeded =
                succeeds("unshare", "-m", "-n", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", play);

        assertThat(succeeded).as(Files.readString(folder.resolve("output"))).isTrue();
    }

    private void write(String name, String text) throws Exception {
        Files.writeString(folder.resolve(name), text);
    }

    private boolean succeeds(String... command) throws Exception {
        Process process = new ProcessBuilder(List.of(command))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile())
                .start();
        try {
            return process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
