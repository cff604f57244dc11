package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.routing.discovery.HostInterface.AddressState;
import trigon.system.InterfaceAddress;

class AddressStatesTest {

    @Test
    void thoseThatTheKernelExaminesOrAnotherMachineHasAreToldApart() {
        AddressStates states = AddressStates.of(Stream.of(
                "00000000000000000000000000000001 01 80 10 80       lo",
                "fe800000000000000000000000000002 02 40 20 80     eth0",
                "fe800000000000000000000000000003 03 40 20 c0     eth1",
                "fe800000000000000000000000000004 04 40 20 88     eth2",
                "fe800000000000000000000000000005 05 40 20 44     eth3",
                "fe800000000000000000000000000006 1a 40 20 40    eth26",
                "fd000000000000000000000000000007 1a 40 00 20    eth26",
                "something new"));

        assertThat(states.byInterface()).containsOnlyKeys(3, 4, 26);
        assertThat(states.of(3)).containsEntry(address("fe80::3/64"), AddressState.TENTATIVE);
        assertThat(states.of(4)).containsEntry(address("fe80::4/64"), AddressState.FAILED);
        assertThat(states.of(5)).as("usable while it is examined").isEmpty();
        assertThat(states.of(26))
                .containsEntry(address("fe80::6/64"), AddressState.TENTATIVE)
                .containsEntry(address("fd00::7/64"), AddressState.DEPRECATED);
        assertThat(states.areTentative(3)).isTrue();
        assertThat(states.areTentative(4)).as("that will not change").isFalse();
    }

    @Test
    void thisMachineCanBeAsked() {
        assertThat(AddressStates.now().of(1)).doesNotContainKey(address("::1/128"));
    }

    private static InterfaceAddress address(String text) {
        return InterfaceAddress.parse(text);
    }
}
