package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

class RelayLinksTest {

    @Test
    void aSubnetOfItsOwnDistinguishesACable() {
        assertThat(of("one 10.0.12.1/24", "one fe80::1/64", "two 10.0.13.1/24", "two fe80::2/64"))
                .containsExactly("one 10.0.12.1/24", "two 10.0.13.1/24");
    }

    @Test
    void aSubnetOfTwoInterfacesDoesNot() {
        assertThat(of("one 10.0.12.1/24", "one fe80::1/64", "two 10.0.12.9/24", "two fe80::2/64"))
                .containsExactly("one 10.0.12.1/24", "two 10.0.12.9/24", "one fe80::1/64", "two fe80::2/64");
    }

    /** The other end may have several of these. */
    @Test
    void thatOfIpv4LinkLocalAddressesDoesNotEither() {
        assertThat(of("one 169.254.1.1/16", "one fe80::1/64", "two 10.0.12.1/24", "two fe80::2/64"))
                .containsExactly("two 10.0.12.1/24", "one fe80::1/64");
        assertThat(of("one 169.254.1.1/16")).containsExactly("one 169.254.1.1/16");
    }

    @Test
    void anInterfaceWithNothingElseRelaysByItsLinkLocalAddress() {
        assertThat(of("one fe80::1/64")).containsExactly("one fe80::1/64");
    }

    private static List<String> of(String... interfacesAndAddresses) {
        List<LocalLink> links = Stream.of(interfacesAndAddresses)
                .map(text -> link(text.split(" ", -1)[0], InterfaceAddress.parse(text.split(" ", -1)[1])))
                .toList();
        return RelayLinks.of(links).stream()
                .map(link -> link.interfaceName() + " " + link.address())
                .toList();
    }

    private static LocalLink link(String name, InterfaceAddress address) {
        return new LocalLink(
                name, LinkKind.SOFTWARE, name, 1, address, 0, Gid.of(address.address()), 10_000, name, 2, 0);
    }
}
