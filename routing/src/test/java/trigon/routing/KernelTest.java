package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.routing.discovery.HostInterfaces;

/** What the kernel of any Linux machine says. */
@Timeout(180)
class KernelTest {

    @Test
    void listsTheLoopbackInterface() {
        assertThat(HostInterfaces.snapshot().interfaces()).anySatisfy(each -> {
            assertThat(each.loopback()).isTrue();
            assertThat(each.index()).isPositive();
            assertThat(each.speedMbps()).as("the kernel tells none").isZero();
            assertThat(each.addresses()).map(Object::toString).contains("127.0.0.1/8");
        });
    }

    @Test
    void findsTheOwnerOfAnyLoopbackAddress() {
        assertThat(HostInterfaces.snapshot().withAddress(Links.address("127.0.12.1")))
                .hasValueSatisfying(each -> assertThat(each.loopback()).isTrue());
    }

    @Test
    void routesLoopbackFromLoopback() {
        InetAddress destination = Links.address("127.0.12.2");

        assertThat(new KernelRouteLookup().sourceFor(destination))
                .hasValueSatisfying(
                        source -> assertThat(source.isLoopbackAddress()).isTrue());
    }

    @Test
    void takesARefusalForNoRoute() {
        // the kernel does not let a socket connect to the broadcast address without SO_BROADCAST
        assertThat(new KernelRouteLookup().sourceFor(Links.address("255.255.255.255")))
                .isEmpty();
    }
}
