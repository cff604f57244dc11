package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.testsupport.verbs.SendFabric;
import trigon.verbs.Gid;

/** Hops whose sides name themselves otherwise than by their addresses. */
class HopUpgradeTest {

    private static final InetAddress OTHER = InetAddress.ofLiteral("127.0.0.9");

    private final SendFabric fabric = TestHop.fabric();
    private final HopDevices devices = TestHop.devices(fabric);

    @AfterEach
    void nothingIsLeftOpen() {
        devices.close();
        assertThat(fabric.ledger().outstanding()).isEmpty();
    }

    /** The kernel would look for that address for seconds, on the thread of all circuits. */
    @Test
    void aGidThatIsNotTheDialersStaysUnused() throws IOException {
        HopUpgrade dialer = HopUpgrade.ofDialer(devices, TestHop.LOCAL, TestHop.LOCAL);
        HopUpgrade accepter = HopUpgrade.ofAccepter(devices, TestHop.LOCAL, OTHER);

        talk(dialer, accepter);

        assertThat(dialer.isRdma()).isFalse();
        assertThat(accepter.isRdma()).isFalse();
    }

    @Test
    void aGidThatIsNotTheAcceptersStaysUnused() throws IOException {
        HopUpgrade dialer = HopUpgrade.ofDialer(devices, TestHop.LOCAL, OTHER);
        HopUpgrade accepter = HopUpgrade.ofAccepter(devices, TestHop.LOCAL, TestHop.LOCAL);

        talk(dialer, accepter);

        assertThat(dialer.isRdma()).isFalse();
        assertThat(accepter.isRdma()).isFalse();
    }

    private static void talk(HopUpgrade dialer, HopUpgrade accepter) throws IOException {
        accepter.expected().put(dialer.begin());
        dialer.expected().put(accepter.next());
        accepter.expected().put(dialer.next());
        accepter.next();
        assertThat(List.of(dialer.isOver(), accepter.isOver())).containsOnly(true);
    }

    /** GIDs of InfiniBand are no addresses: of the neighbour's, the subnet is known. */
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, ::ffff:10.0.0.1, ::ffff:10.0.0.2, true",
        "10.0.0.1, ::ffff:10.0.0.1, ::ffff:10.0.0.3, false",
        "10.0.0.1, ::ffff:10.0.0.1, fe80::2, false",
        "10.0.0.1, fe80::1, fe80::77, true",
        "10.0.0.1, fe80::1, ::ffff:10.0.0.2, false",
    })
    void aGidIsTheNeighboursAddressWhereThisPortsIs(String address, String own, String theirs, boolean may) {
        HopPort port = new HopPort(fabric, InetAddress.ofLiteral(address), "one", 1, gid(own));

        assertThat(port.mayReach(gid(theirs), InetAddress.ofLiteral("10.0.0.2")))
                .isEqualTo(may);
    }

    private static Gid gid(String text) {
        return Gid.of(InetAddress.ofLiteral(text));
    }
}
