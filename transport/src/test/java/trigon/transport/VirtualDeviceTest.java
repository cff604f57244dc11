package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NcclResult;

/** Software links are devices of NCCL's, each of which reaches every peer. */
@Timeout(180)
class VirtualDeviceTest {

    private static final int TAG = 1;

    @Test
    void eachOfTwoCablesToOnePeerCarriesTheConnectionsOfItsDevice(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.2.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.2.12.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            assertThat(a.plugin.devices()).isEqualTo(2);
            Connected first = new Connected(a, 0, b);
            Connected second = new Connected(a, 1, b);
            Connected secondAgain = new Connected(a, 1, b);

            // memory is registered with a link: it serves all connections over that one, and no others
            long from = a.allocate(8);
            long handle = a.register(second.sendComm, from, 8);
            assertThat(a.plugin.isend(secondAgain.sendComm, from, 8, TAG, handle))
                    .isPositive();
            assertThat(a.plugin.isend(first.sendComm, from, 8, TAG, handle))
                    .isEqualTo(-NcclResult.INVALID_ARGUMENT.code());
        }
    }

    @Test
    void aDeviceWhoseLinkDoesNotLeadThereTakesTheOneThatDoes(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            Connected over = new Connected(a, 0, b);
            Connected elsewhere = new Connected(a, 1, b);
            long from = a.allocate(8);
            long memory = a.register(over.sendComm, from, 8);
            assertThat(a.plugin.isend(elsewhere.sendComm, from, 8, TAG, memory)).isPositive();
        }
    }

    /** NCCL makes two channels for each device, and counts what it sends over those that it takes for the same. */
    @Test
    void aSingleLinkIsTwoPortsOfOneDevice(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            assertThat(a.plugin.devices()).isEqualTo(2);
            DeviceProperties one = a.plugin.properties(0);
            DeviceProperties other = a.plugin.properties(1);
            assertThat(other.guid()).isEqualTo(one.guid());
            assertThat(List.of(one.port(), other.port())).containsExactly(1, 2);
            assertThat(List.of(one.name(), other.name())).containsExactly("trigon0", "trigon1");

            Connected first = new Connected(a, 0, b);
            Connected second = new Connected(a, 1, b);
            long from = a.allocate(8);
            long memory = a.register(first.sendComm, from, 8);
            assertThat(a.plugin.isend(second.sendComm, from, 8, TAG, memory)).isPositive();
        }
    }

    @Test
    void devicesAreToldApartAndAreFourAtMost(@TempDir Path directory) {
        List<String> nics = new ArrayList<>();
        for (int i = 1; i <= 6; i++) {
            nics.add("{address: 127.%d.12.1/24}".formatted(i));
        }
        TestCluster cluster = TestCluster.software(directory, "a: {nics: [" + String.join(", ", nics) + "]}\n");
        try (TestNode a = cluster.open("a")) {
            Set<String> names = new HashSet<>();
            Set<Long> guids = new HashSet<>();
            for (int device = 0; device < a.plugin.devices(); device++) {
                names.add(a.plugin.properties(device).name());
                guids.add(a.plugin.properties(device).guid());
            }
            assertThat(names).containsExactlyInAnyOrder("trigon0", "trigon1", "trigon2", "trigon3");
            assertThat(guids).hasSize(4);
            assertThatThrownBy(() -> a.plugin.properties(4)).hasMessageContaining("Trigon has devices 0 to 3");
        }
    }
}
