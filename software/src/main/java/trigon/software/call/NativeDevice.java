package trigon.software.call;

import java.nio.channels.Channel;
import trigon.software.call.SoftwareFunctions.Function;

/** An open device in C: its registered memory, and the bell by which C asks for attention. */
public final class NativeDevice {

    private final SoftwareFunctions functions = SoftwareFunctions.get();
    private final long address;

    /**
     * A device without memory and queue pairs.
     *
     * @param bell the end of a pipe that is written to; open until {@link #close}
     * @throws OutOfMemoryError if there is no memory
     */
    public NativeDevice(Channel bell) {
        address = functions.call(Function.OPEN, Descriptors.of(bell));
        if (address == 0) {
            throw new OutOfMemoryError("no native memory for a device");
        }
    }

    long address() {
        return address;
    }

    /** Its bell may ring again from now on: who was asked looks afterwards. */
    public void hear() {
        functions.call(Function.HEAR, address);
    }

    /** Registers memory; 0 if a key is taken, or there is no memory for it. Under the device's monitor. */
    public long addRegion(long start, long length, int access, long domain, int localKey, int remoteKey) {
        long keys = (long) localKey << Integer.SIZE | Integer.toUnsignedLong(remoteKey);
        return functions.call(Function.ADD_REGION, address, start, length, access, domain, keys, 0);
    }

    /**
     * Ends all access to a region. Under the device's monitor.
     *
     * @return true if a queue pair may be using it: then it is to be {@linkplain #freeRegion freed}, once each queue
     *     pair has forgotten it. False: nobody does, and it is gone
     */
    public boolean removeRegion(long region) {
        return functions.call(Function.REMOVE_REGION, address, region) != 0;
    }

    /** Frees a region that had to be left, and that all queue pairs have forgotten since. */
    public void freeRegion(long region) {
        functions.call(Function.FREE_REGION, region);
    }

    /** Ends it, once it has no queue pair and no memory. */
    public void close() {
        functions.call(Function.CLOSE, address);
    }
}
