package trigon.transport.path;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.message.RemoteMemory;
import trigon.routing.Path;
import trigon.system.Errno;
import trigon.verbs.LinkKind;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Asks over an RDMA queue pair that has just come up whether packets of the full size get across. Its handshake went
 * over TCP, which says nothing of that: a switch may drop RoCE, or have another MTU for it, a GID may lead elsewhere, a
 * cable may lose what goes one way. A packet that would pass on any Ethernet is written to memory of the peer that is
 * there for it, and then one as long as the path's MTU; each is acknowledged. Control threads; before anybody else
 * polls the path's completions.
 */
public final class DataPathProbe implements Runnable {

    /** So long an acknowledgement is waited for; by its settings a NIC may send again for many seconds. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final Duration LOOK = Duration.ofNanos(20_000);

    /** Payload that passes where Ethernet's usual MTU does. */
    private static final int SHORT = Mtu.MTU_1024.bytes();

    private final PathChannel channel;
    private final PacketSizes sizes;

    /** Payload of the packets whose acknowledgements are missing: the number of each work request. */
    private final Deque<Integer> unacknowledged = new ArrayDeque<>();

    private int passed;
    private long deadline = System.nanoTime() + PATIENCE.toNanos();

    private DataPathProbe(PathChannel channel, PacketSizes sizes) {
        this.channel = channel;
        this.sizes = sizes;
    }

    /**
     * Posts the writes. Several paths' are posted first and waited for afterwards, so that they share the wait.
     *
     * @param channel a connected sender's
     * @param over where it leads
     * @param client takes note of what is found out
     * @return what has begun; empty for a software link, of which its handshake has shown that
     * @throws VerbsException if they cannot be posted
     */
    public static Optional<DataPathProbe> begin(PathChannel channel, Path over, HandshakeClient client) {
        if (over.kind() != LinkKind.RDMA) {
            return Optional.empty();
        }
        DataPathProbe probe = new DataPathProbe(channel, new PacketSizes(over, client));
        int full = Mtu.min(channel.endpoint().mtu(), peer(channel).mtu()).bytes();
        probe.post(Math.min(SHORT, full));
        if (full > SHORT) {
            probe.post(full);
        }
        return Optional.of(probe);
    }

    /**
     * Returns the memory of a link that probes of the peer may write. May block.
     *
     * @throws VerbsException if it cannot be registered
     */
    public static RemoteMemory target(Link link) {
        if (link.local().kind() != LinkKind.RDMA) {
            return RemoteMemory.NONE;
        }
        MemoryRegion memory = link.probeMemory();
        return new RemoteMemory(memory.address(), memory.remoteKey());
    }

    private void post(int bytes) {
        MemoryRegion from = channel.link().probeMemory();
        RemoteMemory to = channel.remoteMemory();
        int errno = channel.queuePair()
                .postWrite(bytes, from.address(), bytes, from.localKey(), to.address(), to.key(), SendFlag.SIGNALED);
        if (errno != 0) {
            throw failed(errno, "an RDMA WRITE cannot be posted");
        }
        unacknowledged.add(bytes);
    }

    /** Returns once the writes are acknowledged; throws as {@link #poll} does. */
    @Override
    public void run() {
        while (!poll()) {
            LockSupport.parkNanos(LOOK.toNanos());
        }
    }

    /**
     * Takes the writes' completions. Returns false if one is missing, and there is time.
     *
     * @throws VerbsException if one has failed, or has not been acknowledged in time
     */
    public boolean poll() {
        boolean late = System.nanoTime() - deadline >= 0; // before the look: who polls late may find it done
        try (Arena arena = Arena.ofConfined()) { // closing a shared one would stop all threads of the process
            WorkCompletions completions = new WorkCompletions(
                    arena.allocate(WorkCompletions.STRIDE, Long.BYTES).address(), 1);
            int count = channel.completionQueue().poll(completions);
            if (count == 0 && !late) {
                return false;
            }
            if (count < 0) {
                throw failed(-count, "the completion queue cannot be polled");
            }
            WorkCompletionStatus status = count == 0
                    ? WorkCompletionStatus.RETRY_EXCEEDED
                    : WorkCompletionStatus.ofCode(completions.statusCode(0));
            if (status == WorkCompletionStatus.RETRY_EXCEEDED) {
                throw passed > 0
                        ? onlyShortPass()
                        : failed(Errno.ETIMEDOUT, "an RDMA WRITE is not acknowledged, though TCP gets through");
            }
            if (status != WorkCompletionStatus.SUCCESS) {
                throw failed(Errno.EIO, "an RDMA WRITE failed with " + status);
            }
        }
        return acknowledged(unacknowledged.remove());
    }

    /** Each has its own time: a busy port carries them one after the other. */
    private boolean acknowledged(int bytes) {
        passed = bytes;
        deadline = System.nanoTime() + PATIENCE.toNanos();
        if (passed > SHORT) {
            sizes.fullPasses(passed);
        }
        return unacknowledged.isEmpty();
    }

    /** Takes note of it, so that new queue pairs over this path have short packets for a while. */
    private VerbsException onlyShortPass() {
        int lost = unacknowledged.element();
        sizes.fullIsLost(lost, passed);
        return new VerbsException(
                "ibv_post_send",
                sizes.toString(),
                Errno.ETIMEDOUT,
                "an RDMA WRITE of %d bytes is lost, and shorter ones pass".formatted(lost));
    }

    private static QueuePairEndpoint peer(PathChannel channel) {
        return Objects.requireNonNull(channel.remote(), "the channel is connected");
    }

    private VerbsException failed(int errno, String what) {
        return new VerbsException(
                "ibv_post_send",
                sizes.toString(),
                errno,
                what + ": check that RoCE (UDP port 4791) passes both ways between them, and that both GIDs are on"
                        + " this network");
    }
}
