package trigon.transport;

import java.lang.foreign.Arena;
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

    private static final int PAGE_BYTES = 4096;

    private final Arena arena = Arena.ofShared();
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
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(arena::close);
            // a page of its own: after ibv_fork_init, registered pages are not there in a forked child, nor what shares
            // them
            address = arena.allocate(PAGE_BYTES, PAGE_BYTES).address();
            memory = link.protectionDomain()
                    .registerMemory(address, (long) RequestRing.SLOTS * protocol.clearToSendBytes(), access);
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
        arena.close();
    }
}
