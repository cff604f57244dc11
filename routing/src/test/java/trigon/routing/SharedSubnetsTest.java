package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.up;

import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.config.setting.LinkPolicy;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;

class SharedSubnetsTest {

    @Test
    void bothInterfacesAreNamedAndWhatToDo() {
        assertThat(warnings(interfaces(
                        up("va", 3, "10.0.12.1/24"), up("vb", 4, "10.0.12.9/24"), up("vc", 5, "10.0.13.1/24"))))
                .singleElement()
                .asString()
                .contains("va 10.0.12.1/24 and vb 10.0.12.9/24 are in one subnet")
                .contains("give each cable a subnet of its own");
    }

    @Test
    void linkLocalAddressesAreTheWayOut() {
        assertThat(warnings(interfaces(
                        up("va", 3, "10.0.12.1/24", "fe80::1/64"), up("vb", 4, "10.0.12.9/24", "fe80::2/64"))))
                .singleElement()
                .asString()
                .contains("so their link-local IPv6 addresses go first");
    }

    @Test
    void nothingIsSaidOfSubnetsOfTheirOwn() {
        assertThat(warnings(interfaces(
                        up("va", 3, "10.0.12.1/24", "10.0.12.2/24"),
                        up("vb", 4, "10.0.13.1/24"),
                        up("vc", 5, "10.0.12.3/32"))))
                .isEmpty();
    }

    private static List<String> warnings(HostInterfaces host) {
        return SharedSubnets.warnings(LinkDiscovery.discover(Links.config(LinkPolicy.SOFTWARE), List.of(), host)
                .links());
    }
}
