package trigon.hop;

/** How much memory the slots of this process's hops lock, of what they may. Thread-safe. */
final class SlotMemory {

    private final long mostBytes;
    private long takenBytes;

    /** For so many bytes at most. */
    SlotMemory(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    long mostBytes() {
        return mostBytes;
    }

    /** Takes so much for a queue pair, unless that is more than is left; then nothing changes, and it is false. */
    synchronized boolean take(SlotGeometry slots) {
        if (slots.bytes() > mostBytes - takenBytes) {
            return false;
        }
        takenBytes += slots.bytes();
        return true;
    }

    /** Gives it back, once. */
    synchronized void giveBack(SlotGeometry slots) {
        takenBytes -= slots.bytes();
    }
}
