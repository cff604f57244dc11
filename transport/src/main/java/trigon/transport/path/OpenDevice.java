package trigon.transport.path;

import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import trigon.routing.LocalLink;
import trigon.transport.Unwinding;
import trigon.verbs.AccessFlag;
import trigon.verbs.DeviceContext;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.VerbsProvider;

/**
 * A device that is open, with what all its links share. Closed after their last path.
 *
 * <p>An RDMA device has registered memory of the longest packet, which {@link DataPathProbe}s of its paths read, and
 * those of its peers write; nobody looks at it.
 */
final class OpenDevice implements AutoCloseable {

    private static final int PROBE_BYTES = Mtu.MTU_4096.bytes();

    private final DeviceContext context;
    private final ProtectionDomain protectionDomain;
    private final Arena arena = Arena.ofShared();
    private final @Nullable MemoryRegion probeMemory;
    private final SlowCalls calls;

    /**
     * Opens it.
     *
     * @param link one of its links
     * @throws trigon.verbs.VerbsException if it cannot be opened; nothing is left open then
     */
    OpenDevice(VerbsProvider provider, LocalLink link) {
        context = provider.open(link.deviceName());
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(arena::close);
            unwinding.onFailure(context::close);
            protectionDomain = context.allocateProtectionDomain();
            unwinding.onFailure(protectionDomain::close);
            probeMemory = link.kind() == LinkKind.RDMA ? registerProbeMemory() : null;
            calls = new SlowCalls(link.deviceName(), link.kind() == LinkKind.RDMA);
            unwinding.succeeded();
        }
    }

    private MemoryRegion registerProbeMemory() {
        long address = arena.allocate(PROBE_BYTES, PROBE_BYTES).address();
        return protectionDomain.registerMemory(
                address, PROBE_BYTES, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
    }

    DeviceContext context() {
        return context;
    }

    /** {@link Link#gidIndex}. */
    int gidIndex(LocalLink link) {
        List<GidEntry> table = context.gidTable(link.port()).stream()
                .filter(entry -> entry.gid().equals(link.gid()))
                .toList();
        if (table.stream().anyMatch(entry -> entry.index() == link.gidIndex())) {
            return link.gidIndex();
        }
        return table.stream()
                .filter(entry -> entry.type() == GidEntry.Type.ROCE_V2)
                .mapToInt(GidEntry::index)
                .findFirst()
                .orElse(link.gidIndex());
    }

    /** Its calls that may hang. */
    SlowCalls calls() {
        return calls;
    }

    /** The domain of the queue pairs and the memory of all its links. */
    ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /** The memory of probes, of an RDMA device. */
    MemoryRegion probeMemory() {
        return Objects.requireNonNull(probeMemory, "the device is no RDMA device");
    }

    @Override
    public void close() {
        calls.close();
        if (probeMemory != null) {
            probeMemory.close();
        }
        protectionDomain.close();
        context.close();
        arena.close();
    }
}
