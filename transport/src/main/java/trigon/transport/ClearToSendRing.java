package trigon.transport;

import java.util.EnumSet;
import java.util.Set;
import trigon.handshake.RemoteMemory;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;

/**
 * The registered memory of a ring of {@link ClearToSend} entries: at the sender, where the receiver writes; at the
 * receiver, where its entries are made.
 */
final class ClearToSendRing implements AutoCloseable {

    private final ClearToSendMemory memoryOfLink;
    private final long address;
    private final MemoryRegion memory;

    /**
     * Allocates and registers a ring.
     *
     * @throws trigon.verbs.VerbsException if the device refuses; nothing is left open then
     */
    ClearToSendRing(Link link, Connection.Role role, MessageProtocol protocol) {
        Set<AccessFlag> access = role == Connection.Role.SENDER
                ? EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
                : EnumSet.noneOf(AccessFlag.class);
        memoryOfLink = link.clearToSendMemory();
        int bytes = RequestRing.SLOTS * protocol.clearToSendBytes();
        address = memoryOfLink.take(bytes);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(() -> memoryOfLink.giveBack(address));
            memory = link.protectionDomain().registerMemory(address, bytes, access);
            unwinding.succeeded();
        }
    }

    long address() {
        return address;
    }

    int localKey() {
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
