package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import trigon.software.SoftwareDevice;
import trigon.stream.dial.Dialer;
import trigon.system.Errno;
import trigon.verbs.Gid;
import trigon.verbs.VerbsException;

class ReachabilityTest {

    @Test
    void reachesWhatIsOnLink() {
        assertThat(Reachability.resolve(Loopback.A, Dialer.DIRECT, gid("127.0.12.77")))
                .isEqualTo(Loopback.address("127.0.12.77"));
        assertThat(Reachability.resolve(Loopback.A, Dialer.DIRECT, gid("127.0.12.1")))
                .isEqualTo(Loopback.A.address());
    }

    @Test
    void doesNotReachAnotherSubnetThatIsNotRoutedThroughTheDevice() {
        assertThatThrownBy(() -> Reachability.resolve(Loopback.A, Dialer.DIRECT, gid("127.0.13.2")))
                .asInstanceOf(InstanceOfAssertFactories.type(VerbsException.class))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENETUNREACH))
                .satisfies(e -> assertThat(e).hasMessageContaining("127.0.13.2").hasMessageContaining("soft_a"));
    }

    @Test
    void reachesAnotherSubnetThatTheKernelRoutesThroughTheDevice() {
        // the source that the kernel gives to all of 127.0.0.0/8 it has no closer address for
        SoftwareDevice device = new SoftwareDevice("soft_lo", Loopback.address("127.0.0.1"), 32, 1, 1);

        assertThat(Reachability.resolve(device, Dialer.DIRECT, gid("127.0.13.2")))
                .isEqualTo(Loopback.address("127.0.13.2"));
    }

    @Test
    void doesNotReachTheOtherAddressFamily() {
        assertThatThrownBy(() -> Reachability.resolve(Loopback.A, Dialer.DIRECT, gid("2001:db8::1")))
                .isInstanceOf(VerbsException.class);
    }

    @Test
    void refusesTheZeroGid() {
        assertThatThrownBy(() -> Reachability.resolve(Loopback.A, Dialer.DIRECT, new Gid(0, 0)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EINVAL");
    }

    @Test
    void comparesPrefixesBitByBit() {
        SoftwareDevice device = new SoftwareDevice("x", Loopback.address("10.1.2.65"), 26, 1, 0);
        assertThat(device.isOnLink(Loopback.address("10.1.2.127"))).isTrue();
        assertThat(device.isOnLink(Loopback.address("10.1.2.63"))).isFalse();
        assertThat(device.isOnLink(Loopback.address("10.1.2.128"))).isFalse();
        assertThat(device.isOnLink(Loopback.address("::1"))).isFalse();
        SoftwareDevice six = new SoftwareDevice("y", Loopback.address("2001:db8::1"), 61, 1, 0);
        assertThat(six.isOnLink(Loopback.address("2001:db8:0:7::5"))).isTrue();
        assertThat(six.isOnLink(Loopback.address("2001:db8:0:8::5"))).isFalse();
    }

    @Test
    void refusesAddressesThatAreNoHosts() {
        assertThatThrownBy(() -> new SoftwareDevice("x", Loopback.address("0.0.0.0"), 24, 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SoftwareDevice("x", Loopback.address("10.0.0.1"), 33, 1, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("33");
    }

    private static Gid gid(String address) {
        return Gid.of(Loopback.address(address));
    }
}
