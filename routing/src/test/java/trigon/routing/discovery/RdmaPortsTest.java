package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import trigon.routing.LeftOut;
import trigon.routing.Links;
import trigon.verbs.AsyncEvent;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

class RdmaPortsTest {

    private static final int ENODEV = 19;

    private final List<String> open = new ArrayList<>();

    @Test
    void listsAllPortsOfTheDevicesThatCanBeAskedAndSaysWhichCannot() {
        RdmaPorts found = RdmaPorts.snapshot(new Provider());

        assertThat(found.ports()).map(RdmaPort::label).containsExactly("good", "good:2");
        assertThat(found.leftOut()).map(LeftOut::name).containsExactly("gone", "failing");
        assertThat(found.leftOut().getFirst().toString()).startsWith("gone: ibv_open_device failed on gone");
        assertThat(open).isEmpty();
    }

    private final class Provider implements VerbsProvider {

        @Override
        public String name() {
            return "fake";
        }

        @Override
        public LinkKind linkKind() {
            return LinkKind.RDMA;
        }

        @Override
        public List<String> deviceNames() {
            return List.of("gone", "good", "failing");
        }

        @Override
        public DeviceContext open(String deviceName) {
            if (deviceName.equals("gone")) {
                throw new VerbsException("ibv_open_device", deviceName, ENODEV, "");
            }
            open.add(deviceName);
            return new Device(deviceName);
        }

        @Override
        public ResourceLedger ledger() {
            throw new UnsupportedOperationException();
        }
    }

    /** Has two ports; the second of the failing one cannot be asked. */
    private final class Device implements DeviceContext {

        private final String name;

        Device(String name) {
            this.name = name;
        }

        @Override
        public String deviceName() {
            return name;
        }

        @Override
        public DeviceAttributes attributes() {
            return new DeviceAttributes(1, 2, 1, 1, 1);
        }

        @Override
        public PortAttributes queryPort(int port) {
            if (name.equals("failing") && port == 2) {
                throw new VerbsException("ibv_query_port", name, ENODEV, "");
            }
            return Links.port(PortState.ACTIVE, LinkLayer.ETHERNET);
        }

        @Override
        public List<GidEntry> gidTable(int port) {
            return List.of();
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionQueue createCompletionQueue(int entries) {
            throw new UnsupportedOperationException();
        }

        @Override
        public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<AsyncEvent> pollAsyncEvent() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            open.remove(name);
        }
    }
}
