package trigon.onesided.group;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.LongSupplier;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.system.Memory;

/**
 * Every rank's connection to the next one, by which all ranks learn what each has to say. Control path: all ranks call
 * the same in the same order, and each call waits for the others. Closed when the group is.
 */
final class RankRing implements AutoCloseable {

    private static final int TAG = 0;

    private final NetPlugin net;
    private final int rank;
    private final int ranks;
    private final long toNext;
    private final long fromPrevious;
    private final Patience patience;

    /**
     * A ring whose connections are up.
     *
     * @param toNext send comm
     * @param fromPrevious receive comm
     */
    RankRing(NetPlugin net, int rank, int ranks, long toNext, long fromPrevious, Patience patience) {
        this.net = net;
        this.rank = rank;
        this.ranks = ranks;
        this.toNext = toNext;
        this.fromPrevious = fromPrevious;
        this.patience = patience;
    }

    /**
     * Connects a ring.
     *
     * @param handles of all ranks' listeners, by rank
     * @param listenComm this rank's listener
     * @throws NoConnectionException if a neighbour cannot be reached, or does not come
     */
    static RankRing connect(Endpoint endpoint, long[] handles, int rank, long listenComm, Patience patience) {
        int ranks = handles.length;
        int next = (rank + 1) % ranks;
        long[] comms = new long[2];
        try (Connections connections = new Connections(endpoint)) {
            List<Connections.Pending> pending = List.of(
                    connections.connect(
                            read(handles[next], Connections.HANDLE_WORDS),
                            NetPlugin.TRAFFIC_CLASS_UNDEFINED,
                            comm -> comms[0] = comm),
                    connections.accept(listenComm, comm -> comms[1] = comm));
            patience.until(
                    () -> Connections.lookAtAll(pending),
                    () -> "one-sided communication: rank %d has not %s within %d s; see its log, if it is alive"
                            .formatted(
                                    comms[0] == 0 ? next : Math.floorMod(rank - 1, ranks),
                                    comms[0] == 0 ? "answered" : "called",
                                    patience.limit().toSeconds()));
        }
        return new RankRing(endpoint.net(), rank, ranks, comms[0], comms[1], patience);
    }

    /** A ring of one rank, which has no neighbours and nothing to wait for. */
    static RankRing ofOne(NetPlugin net, Patience patience) {
        return new RankRing(net, 0, 1, 0, 0, patience);
    }

    /** Number of this process, from 0. */
    int rank() {
        return rank;
    }

    int ranks() {
        return ranks;
    }

    /**
     * Every rank's words, by rank.
     *
     * @param words of this rank, as many as every other one has
     */
    long[][] allGather(long[] words) {
        long[][] all = new long[ranks][];
        all[rank] = words.clone();
        if (ranks == 1) {
            return all;
        }
        long bytes = (long) words.length * Long.BYTES;
        try (Arena arena = Arena.ofShared()) {
            long buffer = arena.allocate(2 * bytes, Long.BYTES).address();
            long sendHandle = net.registerMemory(toNext, buffer, bytes, DeviceProperties.POINTER_HOST);
            long receiveHandle = net.registerMemory(fromPrevious, buffer + bytes, bytes, DeviceProperties.POINTER_HOST);
            boolean succeeded = false;
            try {
                for (int step = 0; step < ranks - 1; step++) {
                    int mine = Math.floorMod(rank - step, ranks);
                    int theirs = Math.floorMod(rank - step - 1, ranks);
                    write(all[mine], buffer);
                    exchange(buffer, bytes, sendHandle, receiveHandle);
                    all[theirs] = read(buffer + bytes, words.length);
                }
                succeeded = true;
            } finally {
                if (!succeeded) {
                    close(); // nothing comes into the buffer any more
                }
                net.deregisterMemory(toNext, sendHandle);
                net.deregisterMemory(fromPrevious, receiveHandle);
            }
        }
        return all;
    }

    /**
     * Asks for the receive from the first on, as NCCL does: what the neighbour needs to send may have been lost with a
     * queue pair, which is noticed by asking alone.
     */
    private void exchange(long buffer, long bytes, long sendHandle, long receiveHandle) {
        Request receive = new Request(() -> net.irecv(fromPrevious, buffer + bytes, bytes, TAG, receiveHandle), bytes);
        Request send = new Request(() -> net.isend(toNext, buffer, bytes, TAG, sendHandle), bytes);
        patience.until(() -> {
            boolean received = receive.advance();
            return send.advance() && received;
        });
    }

    /** A message on its way: posted as soon as there is room for it, and then asked for. */
    private final class Request {

        private final LongSupplier post;
        private final long bytes;
        private long handle;
        private boolean done;

        Request(LongSupplier post, long bytes) {
            this.post = post;
            this.bytes = bytes;
        }

        boolean advance() {
            if (handle == 0) {
                handle = succeeded(post.getAsLong());
            }
            if (handle != 0 && !done) {
                long size = net.test(handle);
                if (size != NetPlugin.NOT_DONE && succeeded(size) != bytes) {
                    throw new NoConnectionException(("the ranks of a communicator made different one-sided calls,"
                                    + " or made them in a different order: a neighbour of rank %d in the ring said %d"
                                    + " bytes instead of %d; use one version of NCCL and of Trigon on all nodes")
                            .formatted(rank, size, bytes));
                }
                done = size != NetPlugin.NOT_DONE;
            }
            return done;
        }
    }

    private long succeeded(long result) {
        if (result < 0) {
            throw new NoConnectionException(("a neighbour of rank %d in the ring of ranks ended or failed; see the"
                            + " earlier lines, and the other ranks' logs")
                    .formatted(rank));
        }
        return result;
    }

    @Override
    public void close() {
        net.closeSend(toNext);
        net.closeReceive(fromPrevious);
    }

    /** Writes words of 8 bytes, as ranks tell them each other. */
    static void write(long[] words, long address) {
        for (int i = 0; i < words.length; i++) {
            Memory.putLong(address + (long) i * Long.BYTES, words[i]);
        }
    }

    /** Reads so many words of 8 bytes. */
    static long[] read(long address, int count) {
        return Memory.segment(address, (long) count * Long.BYTES).toArray(ValueLayout.JAVA_LONG);
    }
}
