package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.routing.Links.rdma;
import static trigon.routing.Links.software;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a machine has beyond the links that are known already. */
class DiscoveredLinksTest {

    @Test
    void onlyOtherAddressesAreBeyond() {
        LocalLink known = software("eth0", "10.0.12.1/24", 0);
        LocalLink later = software("eth1", "10.0.13.1/24", 1);

        assertThat(found(known, later).beyond(List.of(known))).containsExactly(later);
        assertThat(found(known).beyond(List.of(known))).isEmpty();
    }

    @Test
    void anAddressThatIsBackWithAnotherPrefixOrInterfaceIsTheSameSoftwareLink() {
        LocalLink known = software("eth0", "10.0.12.1/24", 0);

        assertThat(found(software("eth7", "10.0.12.1/16", 3)).beyond(List.of(known)))
                .isEmpty();
    }

    @Test
    void anRdmaLinkIsTheSameOnlyOnItsDevice() {
        LocalLink known = rdma("rxe_a", "10.0.12.1/24", 0);
        LocalLink other = rdma("rxe_b", "10.0.12.1/24", 0);
        LocalLink software = software("eth0", "10.0.12.1/24", 0);

        assertThat(found(known, other, software).beyond(List.of(known))).containsExactlyInAnyOrder(other, software);
    }

    @Test
    void eachHasANameOfItsOwn() {
        List<LocalLink> known = List.of(software("eth0", "10.0.12.1/24", 0), software("eth0_2", "10.1.0.1/24", 0));

        assertThat(found(software("eth0", "10.0.13.1/24", 0), software("eth0_2", "10.0.14.1/24", 0))
                        .beyond(known))
                .map(link -> link.name() + " " + link.deviceName() + " " + link.address())
                .containsExactly("eth0_3 eth0_3 10.0.13.1/24", "eth0_2_2 eth0_2_2 10.0.14.1/24");
    }

    private static DiscoveredLinks found(LocalLink... links) {
        return new DiscoveredLinks(List.of(links), Map.of(), List.of());
    }
}
