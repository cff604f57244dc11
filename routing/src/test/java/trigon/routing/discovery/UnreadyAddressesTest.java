package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.routing.Links;

class UnreadyAddressesTest {

    @Test
    void thoseThatTheKernelStillExaminesOrOthersHaveCannotBeUsed() {
        UnreadyAddresses unready = UnreadyAddresses.of(Stream.of(
                "00000000000000000000000000000001 01 80 10 80       lo",
                "fe800000000000000000000000000002 02 40 20 80     eth0",
                "fe800000000000000000000000000003 03 40 20 c0     eth1",
                "fe800000000000000000000000000004 04 40 20 88     eth2",
                "fe800000000000000000000000000005 05 40 20 44     eth3",
                "fe800000000000000000000000000006 1a 40 20 40    eth26",
                "something new"));

        assertThat(unready.contains(2, Links.address("fe80::2"))).isFalse();
        assertThat(unready.contains(3, Links.address("fe80::3")))
                .as("tentative")
                .isTrue();
        assertThat(unready.contains(4, Links.address("fe80::4")))
                .as("another machine has it")
                .isTrue();
        assertThat(unready.contains(5, Links.address("fe80::5")))
                .as("usable meanwhile")
                .isFalse();
        assertThat(unready.contains(26, Links.address("fe80::6"))).isTrue();
        assertThat(unready.contains(2, Links.address("fe80::3")))
                .as("of another interface")
                .isFalse();
    }

    @Test
    void thisMachineCanBeAsked() {
        assertThat(UnreadyAddresses.now().contains(1, Links.address("127.0.0.1")))
                .isFalse();
    }
}
