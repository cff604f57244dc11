package trigon.transport.request;

import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.Map;
import trigon.system.Memory;
import trigon.transport.handle.HandleTable;
import trigon.verbs.MemoryRegion;

/**
 * Registrations of memory where the entry library finds them, by the slots in their handles ({@code struct
 * lane_memory}). The keys of one change while its session's gate is shut. Thread-safe; entries live as long as the
 * table.
 */
public final class MemoryTable implements AutoCloseable {

    private static final long BYTES = 64;
    private static final long COMM = 8;
    private static final long ADDRESS = 16;
    private static final long LENGTH = 24;
    private static final long LOCAL_KEY = 32;
    private static final long REMOTE_KEY = 36;
    private static final long OF_GPU = 40;
    private static final int ENTRIES_AT_ONCE = 64;

    private final long addresses;
    private final Arena arena = Arena.ofShared();
    private final long[] blocks = new long[HandleTable.MAX_SLOTS / ENTRIES_AT_ONCE];

    /**
     * An empty table.
     *
     * @param addresses where the library looks for {@value HandleTable#MAX_SLOTS} addresses of entries, all null; 0: it
     *     does not
     */
    MemoryTable(long addresses) {
        this.addresses = addresses;
    }

    /** The numbers that the entry library has, too, by the names there. */
    public static Map<String, Long> facts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("lane_memory", BYTES);
        facts.put("lane_memory.comm", COMM);
        facts.put("lane_memory.address", ADDRESS);
        facts.put("lane_memory.length", LENGTH);
        facts.put("lane_memory.local_key", LOCAL_KEY);
        facts.put("lane_memory.remote_key", REMOTE_KEY);
        facts.put("lane_memory.of_gpu", OF_GPU);
        return facts;
    }

    /** Shows memory that has been registered for a session, both by their handles, with its first path's device. */
    public synchronized void add(long handle, long session, MemoryRegion region, boolean ofGpu) {
        int slot = HandleTable.slot(handle);
        int block = slot / ENTRIES_AT_ONCE;
        if (blocks[block] == 0) {
            blocks[block] = arena.allocate(ENTRIES_AT_ONCE * BYTES, BYTES).address();
        }
        long entry = entry(slot);
        Memory.putLong(entry + COMM, session);
        Memory.putLong(entry + ADDRESS, region.address());
        Memory.putLong(entry + LENGTH, region.length());
        Memory.putInt(entry + LOCAL_KEY, region.localKey());
        Memory.putInt(entry + REMOTE_KEY, region.remoteKey());
        Memory.putInt(entry + OF_GPU, ofGpu ? 1 : 0);
        Memory.putLongRelease(entry, handle);
        if (addresses != 0) {
            Memory.putLongRelease(addresses + (long) slot * Long.BYTES, entry);
        }
    }

    private long entry(int slot) {
        return blocks[slot / ENTRIES_AT_ONCE] + slot % ENTRIES_AT_ONCE * BYTES;
    }

    /** It goes by other keys from now on; its session's gate is shut. */
    public synchronized void setKeys(long handle, int localKey, int remoteKey) {
        if (has(handle)) {
            long entry = entry(HandleTable.slot(handle));
            Memory.putInt(entry + LOCAL_KEY, localKey);
            Memory.putInt(entry + REMOTE_KEY, remoteKey);
        }
    }

    private boolean has(long handle) {
        int slot = HandleTable.slot(handle);
        return handle != 0 && blocks[slot / ENTRIES_AT_ONCE] != 0 && Memory.getLong(entry(slot)) == handle;
    }

    /** It is not registered any more; its slot may be another one's by now. */
    public synchronized void remove(long handle) {
        if (has(handle)) {
            Memory.putLongRelease(entry(HandleTable.slot(handle)), 0);
        }
    }

    /**
     * The key of memory that is registered; 0 if it is not.
     *
     * @param remote the peer's instead of the own one
     */
    public synchronized int key(long handle, boolean remote) {
        return has(handle) ? Memory.getInt(entry(HandleTable.slot(handle)) + (remote ? REMOTE_KEY : LOCAL_KEY)) : 0;
    }

    @Override
    public synchronized void close() {
        for (int slot = 0; slot < HandleTable.MAX_SLOTS && addresses != 0; slot++) {
            Memory.putLongRelease(addresses + (long) slot * Long.BYTES, 0);
        }
        arena.close();
    }
}
