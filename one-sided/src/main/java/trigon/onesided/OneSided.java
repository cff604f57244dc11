package trigon.onesided;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.onesided.group.Endpoint;
import trigon.onesided.group.Group;
import trigon.onesided.group.Patience;
import trigon.onesided.group.Traffic;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.system.Memory;

/**
 * NCCL's one-sided calls, as its tables GIN v11 and RMA v14 to v17 have them, over the transport's connections.
 * Listeners, collective comms, their contexts, windows and requests are non-zero {@code long}s; a stale one is an
 * error, never a crash. A collective comm stands for its first context, too, as in the table that has no others.
 *
 * <p>The control path (down to {@link #closeListen}) may wait for other ranks, and throws with a message for the user.
 * The data path does neither, see {@link Traffic}; the calls of one collective comm come from one thread at a time.
 */
public final class OneSided {

    /** {@link Transfer#INCREMENT}. */
    public static final int INCREMENT = Transfer.INCREMENT;

    /** {@link Transfer#ADD}. */
    public static final int ADD = Transfer.ADD;

    private static final int CONTEXT_SHIFT = 48;
    private static final long COMM_MASK = (1L << CONTEXT_SHIFT) - 1;
    private static final int INVALID_ARGUMENT = -NcclResult.INVALID_ARGUMENT.code();

    /** For the transport, where no communicator has had a number: failures of its connections belong together. */
    private static final long UNKNOWN_COMMUNICATOR = 0x6f6e_652d_7369_6465L;

    private final NetPlugin net;
    private final Supplier<GpuMemory> devices;
    private final Patience patience;
    private final Handles<Use> uses = new Handles<>("one-sided context");
    private final Handles<Listener> listeners = new Handles<>("one-sided listener");
    private final Handles<Comm> comms = new Handles<>("one-sided comm");

    /** NCCL 2.28 passes no context for later communicators; relays admit by a number that only the job knows. */
    private volatile long lastCommunicator = UNKNOWN_COMMUNICATOR;

    /** A communicator that uses it. */
    private record Use(long commId) {}

    /** A rank that waits for its neighbour in the ring; the transport's context becomes the group's. */
    private static final class Listener {
        final long context;
        final int device;
        final long comm;
        boolean isTaken;

        Listener(long context, int device, long comm) {
            this.context = context;
            this.device = device;
            this.comm = comm;
        }
    }

    /** A collective comm; its thread finds its data path here. */
    private static final class Comm {
        final Group group;
        volatile @Nullable Traffic traffic;
        volatile Contexts[] contexts = {};

        Comm(Group group) {
            this.group = group;
        }
    }

    /**
     * Contexts that were made together.
     *
     * @param count how many
     * @param isOpen false once they are destroyed
     */
    private record Contexts(int count, boolean isOpen) {}

    /**
     * Nothing is open.
     *
     * @param net whose connections it takes
     * @param devices a new way to memory of the GPU that is current on the thread that asks
     * @param clock nanoseconds, as {@link System#nanoTime}
     * @param limit how long a rank that has to call back is waited for
     */
    public OneSided(NetPlugin net, Supplier<GpuMemory> devices, LongSupplier clock, Duration limit) {
        this.net = net;
        this.devices = devices;
        patience = new Patience(clock, limit);
    }

    /** A communicator begins to use it; returns the context. */
    public long openContext(long commId) {
        if (commId != 0) {
            lastCommunicator = commId;
        }
        return uses.add(new Use(commId == 0 ? lastCommunicator : commId));
    }

    /** It uses it no more; its collective comms are closed by themselves. */
    public void closeContext(long context) {
        var _ = uses.remove(context);
    }

    /**
     * Waits for the other ranks from now on.
     *
     * @param context one of these, or any other: NCCL passes none, or the net plugin's
     * @param handleAddress {@link NetPlugin#HANDLE_BYTES} bytes that NCCL carries to all ranks
     * @return the listener
     */
    public long listen(long context, int device, long handleAddress) {
        Use use = uses.find(context);
        long own = net.openContext(use == null ? lastCommunicator : use.commId(), NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        try {
            return listeners.add(new Listener(own, device, net.listen(own, device, handleAddress)));
        } catch (RuntimeException e) {
            net.closeContext(own);
            throw e;
        }
    }

    /**
     * Connects the ranks; all call it.
     *
     * @param handles address of the addresses of all ranks' handles
     * @param open whether each is connected to each at once, as where no {@link #createContext} follows
     * @return the collective comm
     */
    public long connect(long handles, int ranks, int rank, long listener, boolean open) {
        Listener waiting = listeners.require(listener);
        if (ranks < 1 || rank < 0 || rank >= ranks) {
            throw new IllegalArgumentException("there is no rank %d of %d".formatted(rank, ranks));
        }
        if (waiting.isTaken) {
            throw new IllegalArgumentException("one-sided connect was called twice with one listener");
        }
        waiting.isTaken = true;
        long[] addresses = new long[ranks];
        for (int i = 0; i < ranks; i++) {
            addresses[i] = Memory.getLong(handles + (long) i * Long.BYTES);
        }
        Group group;
        try {
            Endpoint endpoint = new Endpoint(net, waiting.context, waiting.device);
            group = Group.connect(endpoint, addresses, rank, waiting.comm, patience, devices);
        } catch (RuntimeException e) {
            net.closeContext(waiting.context);
            throw e;
        }
        Comm comm = new Comm(group);
        try {
            if (open) {
                comm.traffic = group.open(NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            }
        } catch (RuntimeException e) {
            group.close();
            throw e;
        }
        return comms.add(comm);
    }

    /**
     * Makes contexts; all ranks call it.
     *
     * @param trafficClass of the packets, if these are the first
     * @return their handle
     */
    public long createContext(long collective, int count, int trafficClass) {
        Comm comm = comms.require(collective);
        if (count < 1) {
            throw new IllegalArgumentException("%d one-sided contexts cannot be made".formatted(count));
        }
        comm.traffic = comm.group.open(trafficClass);
        Contexts[] known = comm.contexts;
        Contexts[] next = Arrays.copyOf(known, known.length + 1);
        next[known.length] = new Contexts(count, true);
        comm.contexts = next;
        return collective | ((long) next.length << CONTEXT_SHIFT);
    }

    /** Undoes that; what is under way goes on. A stale one is ignored. */
    public void destroyContext(long context) {
        Comm comm = comms.find(context & COMM_MASK);
        int index = (int) (context >>> CONTEXT_SHIFT) - 1;
        if (comm != null && index >= 0 && index < comm.contexts.length) {
            Contexts[] next = comm.contexts.clone();
            next[index] = new Contexts(next[index].count(), false);
            comm.contexts = next;
        }
    }

    /**
     * Registers a window; all ranks call it.
     *
     * @param ofDevice NCCL says that the memory is a GPU's, which may also be the host's that the GPU can reach
     * @param neverReset the GPU does not write to its words
     * @return its number
     */
    public long register(long collective, long address, long size, boolean ofDevice, boolean neverReset) {
        return comms.require(collective).group.register(address, size, ofDevice, neverReset);
    }

    /** Undoes that, here; 0 and stale numbers are ignored. */
    public void deregister(long collective, long window) {
        Comm comm = comms.find(collective & COMM_MASK);
        if (comm != null) {
            comm.group.deregister(window);
        }
    }

    /** Closes a collective comm, whatever is under way; stale ones are ignored. */
    public void closeComm(long collective) {
        Comm comm = comms.remove(collective);
        if (comm != null) {
            comm.traffic = null;
            comm.group.close();
        }
    }

    /** Closes a listener; the collective comm that was made of it stays. */
    public void closeListen(long listener) {
        Listener closed = listeners.remove(listener);
        if (closed != null) {
            net.closeListen(closed.comm);
            if (!closed.isTaken) {
                net.closeContext(closed.context);
            }
        }
    }

    // ---- the data path

    /** The puts and gets of a collective comm or a context; null where there is no such. */
    public @Nullable Traffic traffic(long handle, int context) {
        Comm comm = comms.find(handle & COMM_MASK);
        if (comm == null) {
            return null;
        }
        Contexts[] contexts = comm.contexts;
        int index = (int) (handle >>> CONTEXT_SHIFT) - 1;
        boolean exists = index < 0
                || (index < contexts.length
                        && contexts[index].isOpen()
                        && context >= 0
                        && context < contexts[index].count());
        return exists ? comm.traffic : null;
    }

    /** {@link Traffic#test}. */
    public int test(long handle, long request) {
        Comm comm = comms.find(handle & COMM_MASK);
        Traffic traffic = comm == null ? null : comm.traffic;
        return traffic == null ? INVALID_ARGUMENT : traffic.test(request);
    }

    /** {@link Traffic#progress}; nothing where nothing is open. */
    public int progress(long handle) {
        Comm comm = comms.find(handle & COMM_MASK);
        Traffic traffic = comm == null ? null : comm.traffic;
        return traffic == null ? 0 : traffic.progress();
    }

    /** Tells whether a collective comm, or a context's, has failed. */
    public boolean hasFailed(long handle) {
        Comm comm = comms.find(handle & COMM_MASK);
        Traffic traffic = comm == null ? null : comm.traffic;
        return traffic != null && traffic.hasFailed();
    }
}
