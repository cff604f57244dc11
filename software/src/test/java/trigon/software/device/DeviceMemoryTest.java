package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.verbs.AccessFlag;
import trigon.verbs.DeviceContext;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.VerbsException;

class DeviceMemoryTest {

    /** It would take an address of a GPU as well as any, and crash with the first message. */
    @Test
    void isRefusedByADeviceThatCopies() {
        try (SoftwareVerbs provider = Loopback.provider();
                DeviceContext device = provider.open("soft_a");
                ProtectionDomain domain = device.allocateProtectionDomain()) {
            assertThat(device.deviceMemory()).hasToString("no: it copies by the CPU");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> domain.registerDeviceMemory(4096, 4096, null, Set.of(AccessFlag.LOCAL_WRITE)))
                    .withMessageContaining("soft_a")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
        }
    }
}
