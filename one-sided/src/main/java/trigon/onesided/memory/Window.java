package trigon.onesided.memory;

import trigon.system.Memory;

/**
 * Memory that every rank has registered, each its own, under one number. The transport has registered it, too, with the
 * connection to each peer.
 *
 * <p>Immutable but for the totals of its signals, which are its group's thread's.
 */
public final class Window {

    private static final long WORD = Long.BYTES;

    private final int id;
    private final long address;
    private final long size;
    private final int rank;
    private final boolean neverReset;
    private final boolean[] ofDevice;
    private final long[] sendHandles;
    private final long[] receiveHandles;

    /** Values of the GPU's words that this end alone writes; made when the first is written. */
    private long[] totals = {};

    /**
     * A window.
     *
     * @param id the same at every rank
     * @param size the same at every rank
     * @param rank this one
     * @param neverReset the GPU does not write to its signals
     * @param ofDevice whether the memory of each rank has to be staged
     */
    public Window(int id, long address, long size, int rank, boolean neverReset, boolean[] ofDevice) {
        this.id = id;
        this.address = address;
        this.size = size;
        this.rank = rank;
        this.neverReset = neverReset;
        this.ofDevice = ofDevice.clone();
        sendHandles = new long[ofDevice.length];
        receiveHandles = new long[ofDevice.length];
    }

    /** The connection's own numbers for it, before anything goes over it; 0 where its memory is staged. */
    public void registered(int rank, long sendHandle, long receiveHandle) {
        sendHandles[rank] = sendHandle;
        receiveHandles[rank] = receiveHandle;
    }

    public int id() {
        return id;
    }

    public long address() {
        return address;
    }

    /** Bytes of each rank's memory. */
    public long size() {
        return size;
    }

    public boolean isOfDevice() {
        return ofDevice[rank];
    }

    /** The same of a rank's. */
    public boolean isOfDeviceAt(int other) {
        return ofDevice[other];
    }

    public boolean covers(long offset, long bytes) {
        return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
    }

    public boolean hasWord(long offset) {
        return covers(offset, WORD) && ((address + offset) & (WORD - 1)) == 0;
    }

    /** Returns what memory that goes to a rank is registered as; 0: it is not. */
    public long sendHandle(int rank) {
        return sendHandles[rank];
    }

    /** Returns what memory that comes from a rank is registered as; 0: it is not. */
    public long receiveHandle(int rank) {
        return receiveHandles[rank];
    }

    /** Tells whether the words in GPU memory hold what was written last: the GPU never writes them. */
    public boolean isNeverReset() {
        return neverReset;
    }

    /**
     * The totals begin with what the words hold, before any signal comes; only for memory of a GPU that it never
     * resets.
     *
     * @param copy of the window, in memory of the processor's
     */
    public void keepTotals(long copy) {
        totals = new long[(int) (size / WORD)];
        for (int word = 0; word < totals.length; word++) {
            totals[word] = Memory.getLong(copy + word * WORD);
        }
    }

    /** Tells whether {@link #add} may be called. */
    public boolean keepsTotals() {
        return totals.length > 0;
    }

    /** The total of a word after an addition. */
    public long add(long offset, long addend) {
        int word = (int) (offset / WORD);
        totals[word] += addend;
        return totals[word];
    }
}
