package trigon.transport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsProvider;

/**
 * Another provider's devices, and a list of the queue pairs that were made: a test can do to one of them what the
 * transport does not know of. Thread-safe.
 */
final class RememberingVerbs implements VerbsProvider {

    private final VerbsProvider provider;
    private final List<QueuePair> queuePairs = new CopyOnWriteArrayList<>();

    RememberingVerbs(VerbsProvider provider) {
        this.provider = provider;
    }

    /** All that were made so far, closed ones too. */
    List<QueuePair> queuePairs() {
        return queuePairs;
    }

    @Override
    public String name() {
        return provider.name();
    }

    @Override
    public LinkKind linkKind() {
        return provider.linkKind();
    }

    @Override
    public List<String> deviceNames() {
        return provider.deviceNames();
    }

    @Override
    public DeviceContext open(String deviceName) {
        return new Device(provider.open(deviceName));
    }

    @Override
    public ResourceLedger ledger() {
        return provider.ledger();
    }

    private final class Device implements DeviceContext {

        private final DeviceContext device;

        Device(DeviceContext device) {
            this.device = device;
        }

        @Override
        public String deviceName() {
            return device.deviceName();
        }

        @Override
        public DeviceAttributes attributes() {
            return device.attributes();
        }

        @Override
        public PortAttributes queryPort(int port) {
            return device.queryPort(port);
        }

        @Override
        public List<GidEntry> gidTable(int port) {
            return device.gidTable(port);
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() {
            return device.allocateProtectionDomain();
        }

        @Override
        public CompletionQueue createCompletionQueue(int entries) {
            return device.createCompletionQueue(entries);
        }

        @Override
        public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity) {
            QueuePair created = device.createQueuePair(protectionDomain, capacity);
            queuePairs.add(created);
            return created;
        }

        @Override
        public void close() {
            device.close();
        }
    }
}
