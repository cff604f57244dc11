package trigon.onesided.group;

import java.lang.foreign.Arena;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;

/**
 * Connections of the transport that come up together: listens, then connects and accepts until all are there. What did
 * not come up is closed with it; the rest is the caller's.
 */
final class Connections implements AutoCloseable {

    /** 8-byte words of a listener's handle. */
    static final int HANDLE_WORDS = NetPlugin.HANDLE_BYTES / Long.BYTES;

    private final Endpoint endpoint;
    private final NetPlugin net;
    private final Arena arena = Arena.ofShared();

    Connections(Endpoint endpoint) {
        this.endpoint = endpoint;
        net = endpoint.net();
    }

    /** A new listener: its comm, and where its handle is. */
    record Listener(long comm, long handle) {}

    Listener listen() {
        long handle = arena.allocate(NetPlugin.HANDLE_BYTES, Long.BYTES).address();
        Memory.fill(handle, NetPlugin.HANDLE_BYTES, (byte) 0);
        return new Listener(net.listen(endpoint.context(), endpoint.device(), handle), handle);
    }

    /** A connection on its way: looks until there is a comm. */
    interface Pending {
        boolean look();
    }

    Pending connect(long[] handle, int trafficClass, LongConsumer whenUp) {
        long address = arena.allocate(NetPlugin.HANDLE_BYTES, Long.BYTES).address();
        RankRing.write(handle, address);
        return once(() -> net.connect(endpoint.context(), endpoint.device(), address, trafficClass), whenUp);
    }

    Pending accept(long listenComm, LongConsumer whenUp) {
        return once(() -> net.accept(listenComm), whenUp);
    }

    private static Pending once(LongSupplier attempt, LongConsumer whenUp) {
        boolean[] isUp = {false};
        return () -> {
            if (!isUp[0]) {
                long comm = attempt.getAsLong();
                if (comm != 0) {
                    isUp[0] = true;
                    whenUp.accept(comm);
                }
            }
            return isUp[0];
        };
    }

    static boolean lookAtAll(Iterable<Pending> all) {
        boolean areUp = true;
        for (Pending each : all) {
            areUp &= each.look();
        }
        return areUp;
    }

    @Override
    public void close() {
        arena.close();
    }
}
