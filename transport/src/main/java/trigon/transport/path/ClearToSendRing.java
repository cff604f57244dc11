package trigon.transport.path;

import java.util.EnumSet;
import java.util.Set;
import trigon.handshake.message.RemoteMemory;
import trigon.transport.Unwinding;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;

/**
 * Registered memory for a ring of entries by which a receiver says where messages may go: at the sender, where the
 * receiver writes them; at the receiver, where they are made.
 */
public final class ClearToSendRing implements AutoCloseable {

    private final ClearToSendMemory memoryOfLink;
    private final long address;
    private final MemoryRegion memory;

    /**
     * Allocates and registers a ring.
     *
     * @throws trigon.verbs.VerbsException if the device refuses; nothing is left open then
     */
    ClearToSendRing(Link link, PathRole role, int bytes) {
        Set<AccessFlag> access = role == PathRole.SENDER
                ? EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
                : EnumSet.noneOf(AccessFlag.class);
        memoryOfLink = link.clearToSendMemory();
        address = memoryOfLink.take(bytes);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(() -> memoryOfLink.giveBack(address));
            memory = link.protectionDomain().registerMemory(address, bytes, access);
            unwinding.succeeded();
        }
    }

    public long address() {
        return address;
    }

    /** Returns what work requests that read or write the ring name it by, on this device. */
    public int localKey() {
        return memory.localKey();
    }

    /** The ring as the peer may write it. */
    RemoteMemory forPeer() {
        return new RemoteMemory(address, memory.remoteKey());
    }

    @Override
    public void close() {
        memory.close();
        memoryOfLink.giveBack(address);
    }
}
