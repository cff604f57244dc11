package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.up;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.routing.LinkUse;

/** As NCCL reads NCCL_SOCKET_IFNAME. */
class BootstrapInterfacesTest {

    private static final HostInterfaces HOST = interfaces(
            up("lo", 1, "127.0.0.1/8"),
            up("eno1", 2, "192.168.1.5/24"),
            up("eno10", 3, "192.168.2.5/24"),
            up("enp1s0", 4, "10.0.12.1/24"));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "eno1       | eno1 eno10",
                "=eno1      | eno1",
                "eno10:1,x  | eno10",
                "^eno1      | ''",
                "''         | ''",
                "eth0       | ''",
                "en         | ''", // all of them: there is no other network
            })
    void marksThoseThatItNames(String value, String expected) {
        List<String> marked = BootstrapInterfaces.mark(HOST, value).interfaces().stream()
                .filter(each -> each.use() == LinkUse.BOOTSTRAP)
                .map(HostInterface::name)
                .toList();

        assertThat(String.join(" ", marked)).isEqualTo(expected);
    }

    @Test
    void keepsAllElseThatIsKnownOfTheInterfaces() {
        HostInterfaces host = new HostInterfaces(
                HOST.interfaces(), new InnerInterfaces(Set.of("docker0"), Set.of("veth0")), Map.of("other", "eno1"));

        HostInterfaces marked = BootstrapInterfaces.mark(host, "eno1");

        assertThat(marked.inner()).isEqualTo(host.inner());
        assertThat(marked.otherNames()).isEqualTo(host.otherNames());
    }
}
