package trigon.handshake.message;

/**
 * Memory that the other side may reach through the queue pair.
 *
 * @param address where it starts in its owner's address space; unsigned
 * @param key the owner's remote key for it
 */
public record RemoteMemory(long address, int key) {

    /** Nothing is offered. */
    public static final RemoteMemory NONE = new RemoteMemory(0, 0);
}
