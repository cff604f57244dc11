package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.up;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import trigon.config.setting.LinkPolicy;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.system.kernel.KernelRoute;

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
        return SharedSubnets.warnings(
                LinkDiscovery.discover(Links.config(LinkPolicy.SOFTWARE), List.of(), host)
                        .links(),
                Links.NO_ROUTES);
    }

    /** With a rule and a table for each source address, the kernel sends over both. */
    @Test
    void nothingIsSaidWhereTheKernelSendsFromEachAddressOverItsOwnInterface() {
        HostInterfaces host = interfaces(up("va", 3, "10.0.0.11/24"), up("vb", 4, "10.0.0.12/24"));
        List<LocalLink> links = LinkDiscovery.discover(Links.config(LinkPolicy.SOFTWARE), List.of(), host)
                .links();
        String own = "10.0.0.11";

        assertThat(SharedSubnets.warnings(links, (Routes) from -> from.equals(own) ? 3 : 4))
                .isEmpty();
        assertThat(SharedSubnets.warnings(links, (Routes) _ -> 3)).hasSize(1);
    }

    /** A kernel whose rules look at source addresses. */
    private interface Routes extends RouteLookup {
        int interfaceFrom(String source);

        @Override
        default Optional<InetAddress> sourceFor(InetAddress destination) {
            return Optional.empty();
        }

        @Override
        default Optional<KernelRoute> between(InetAddress source, InetAddress destination) {
            return Optional.of(
                    new KernelRoute(interfaceFrom(source.getHostAddress()), 100, false, false, OptionalLong.empty()));
        }
    }
}
