package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FirewallFactsTest {

    /** As Debian ships it. */
    private static final String NFTABLES = """
        #!/usr/sbin/nft -f
        flush ruleset
        table inet filter {
            chain input {
                type filter hook input priority filter;
            }
            chain forward {
                type filter hook forward priority filter;
            }
        }
        """;

    @TempDir
    private Path root;

    private FirewallFacts facts() {
        return FirewallFacts.of(new Machine(root, Map.of(), "here", "1.2.3", Optional.empty()));
    }

    private void file(String path, String text) throws IOException {
        Files.createDirectories(root.resolve(path).getParent());
        Files.writeString(root.resolve(path), text);
    }

    private void enabled(String target, String service) throws IOException {
        Path link = root.resolve("etc/systemd/system/" + target + ".target.wants/" + service + ".service");
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of("/lib/systemd/system/" + service + ".service"));
    }

    @Test
    void aProgramCountsOnceItIsActive() throws IOException {
        assertThat(facts()).isEqualTo(new FirewallFacts("", ""));

        file("etc/nftables.conf", NFTABLES);
        assertThat(facts().manager()).as("the service is off").isEmpty();

        enabled("multi-user", "netfilter-persistent");
        assertThat(facts()).isEqualTo(new FirewallFacts("iptables", "netfilter-persistent save"));

        enabled("sysinit", "nftables");
        assertThat(facts()).isEqualTo(new FirewallFacts("nftables", "inet filter input"));

        file("run/firewalld.pid", "77");
        assertThat(facts().manager()).isEqualTo("firewalld");

        file("etc/ufw/ufw.conf", "# comment\nENABLED=no\nLOGLEVEL=low\n");
        assertThat(facts().manager()).isEqualTo("firewalld");

        file("etc/ufw/ufw.conf", "ENABLED=yes\n");
        assertThat(facts().manager()).isEqualTo("ufw");
    }

    @Test
    void theChainIsInTheTableBeforeIt() {
        String two = "table ip nat {\n chain post {\n }\n}\n" + NFTABLES;

        assertThat(FirewallFacts.inputChain(two)).contains("inet filter input");
        assertThat(FirewallFacts.inputChain("table inet x {\n chain y {\n }\n}\n"))
                .isEmpty();
    }
}
