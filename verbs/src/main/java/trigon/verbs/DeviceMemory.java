package trigon.verbs;

/**
 * A device's access to the memory of GPUs.
 *
 * @param dmaBuf whether it takes {@link DmaBuf} descriptors
 * @param peerMemory whether a kernel module lets it take such memory by address, as it takes the host's
 * @param obstacle why it does neither; empty if it does
 */
public record DeviceMemory(boolean dmaBuf, boolean peerMemory, String obstacle) {

    /** A device without access. */
    public static DeviceMemory unreachable(String obstacle) {
        return new DeviceMemory(false, false, obstacle);
    }

    /** Returns whether it does in any way. */
    public boolean isReachable() {
        return dmaBuf || peerMemory;
    }

    /** For people: {@code DMA-BUF}, {@code peermem}, both, or {@code no} and why. */
    @Override
    public String toString() {
        if (dmaBuf) {
            return peerMemory ? "DMA-BUF, peermem" : "DMA-BUF";
        }
        return peerMemory ? "peermem" : "no: " + obstacle;
    }
}
