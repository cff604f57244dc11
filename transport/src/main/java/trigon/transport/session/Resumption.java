package trigon.transport.session;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.nccl.NcclResult;
import trigon.routing.Path;
import trigon.transport.path.Link;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.protocol.Protocol;
import trigon.transport.request.Gate;
import trigon.verbs.LinkKind;

/**
 * A {@link Failover}'s use of its session: it counts, and goes on over other paths. On control threads, one at a
 * time; the data path is kept out meanwhile.
 */
public final class Resumption {

    private static final String NOT_FENCED =
            "; and its device cannot destroy the queue pair, so late messages could be mistaken for new ones";

    private final Session session;
    private final Gate gate;
    private final MessageProtocol first;
    private final int queuePairs;
    private long repeatedBytes;

    private Resumption(Session session, MessageProtocol first) {
        this.session = session;
        gate = session.gate;
        this.first = first;
        queuePairs = session.paths.length;
    }

    /** Makes that of a session; empty if it ends with its paths. */
    public static Optional<Resumption> of(Session session) {
        return session.resumable
                ? Optional.of(new Resumption(session, session.protocol().kind()))
                : Optional.empty();
    }

    /**
     * Counts of an end when its path was fenced.
     *
     * @param begun messages
     * @param confirmed those confirmed, or received
     * @param isAwaited whether NCCL waits for some
     */
    public record Counts(long begun, long confirmed, boolean isAwaited) {}

    /** Ends the paths' use, and counts; null if the session has failed, or a path cannot be fenced. May block. */
    public @Nullable Counts fence(String why) {
        gate.close();
        try {
            session.interrupt();
            if (Drain.of(session, why)) {
                return counts();
            }
            path().giveUp(NcclResult.SYSTEM_ERROR, new EndFailure(EndFailure.Scope.CONNECTION, why + NOT_FENCED));
            return null;
        } finally {
            session.openGate();
        }
    }

    private Counts counts() {
        Protocol protocol = protocol();
        return new Counts(protocol.begun(), protocol.confirmed(), protocol.finished() != protocol.begun());
    }

    private Protocol protocol() {
        return session.protocol();
    }

    /**
     * Goes on over other paths, as many as that protocol {@linkplain #queuePairs(MessageProtocol) has}. The former ones
     * are to be closed afterwards; nobody hears of their loss any more.
     *
     * @param by what its messages go by from now on
     * @param received messages that the receiver has
     * @return false if the session has failed meanwhile
     * @throws trigon.verbs.VerbsException if a device refuses; it can be tried again then, with other paths
     */
    public boolean moveTo(List<PathChannel> next, MessageProtocol by, long received) {
        gate.close();
        try {
            if (session.state().hasFailed() || session.lost) {
                return false;
            }
            session.requests.takePolled(); // of the former path, whose end has been counted
            List<Link> links = linksOf(next);
            Map<Long, RegisteredMemory> registrations = session.registrations();
            synchronized (registrations) {
                registrations.values().forEach(memory -> memory.moveTo(links));
                session.moveFlushes(links);
                Protocol protocol = protocol().as(by, next, registrations::get);
                protocol.moveTo(next, received);
                repeatedBytes = protocol.unconfirmedBytes();
                List<PathChannel> formers = paths();
                session.use(next, links, protocol);
                formers.forEach(former -> inherit(former, next));
            }
            return true;
        } finally {
            session.openGate();
        }
    }

    /** As many as the session had at first: where there are fewer paths, again from the first on. */
    private List<Link> linksOf(List<PathChannel> next) {
        return IntStream.range(0, queuePairs)
                .mapToObj(index -> next.get(index % next.size()).link())
                .toList();
    }

    /** Passes on an end of the session that came while it moved, and may have reached the former paths only. */
    private static void inherit(PathChannel former, List<PathChannel> next) {
        former.whenLost(() -> {});
        PathLoss loss = former.loss();
        if (loss instanceof PathLoss.Here(NcclResult result, EndFailure failure)) {
            next.forEach(path -> path.giveUp(result, failure));
            next.forEach(PathChannel::endQueuePair);
        }
    }

    /** Tells whether new messages are held back, so that the end of all others comes soon; until it moves. */
    public void holdBack(boolean on) {
        gate.close();
        try {
            protocol().holdBack(on);
        } finally {
            session.openGate();
        }
    }

    /**
     * Stops at a boundary between messages, if this is one: nothing is under way, and nothing begins before it {@link
     * #moveTo moves}. The path is not fenced: nobody uses it.
     *
     * @param unconfirmed whether short messages may be, that the peer has said nothing of
     * @return null if it is none, or the session has failed
     */
    public @Nullable Counts stopBetweenMessages(boolean unconfirmed) {
        gate.close();
        try {
            session.progress();
            Counts counts = counts();
            long over = unconfirmed ? protocol().finished() : counts.confirmed;
            if (session.state() != SessionState.RUNNING || over != counts.begun) {
                return null;
            }
            session.interrupt();
            return counts;
        } finally {
            session.openGate();
        }
    }

    /** Messages begun so far. */
    public long begun() {
        gate.close();
        try {
            return protocol().begun();
        } finally {
            session.openGate();
        }
    }

    /** Notices from now on when a path in use is lost, as nothing did since it moved. */
    public void watch() {
        session.watchPaths();
    }

    /** Takes up again what has not fitted when the session moved. Returns whether there is more. */
    public boolean repeat() {
        gate.close();
        try {
            if (session.state() == SessionState.REPEATING) {
                session.progress();
            }
            return session.state() == SessionState.REPEATING;
        } finally {
            session.openGate();
        }
    }

    /** Bytes of the messages that the last {@link #moveTo} has sent again. */
    public long repeatedBytes() {
        return repeatedBytes;
    }

    public boolean mayTake(Path path) {
        return first.mayTake(path) && (path.kind() == LinkKind.RDMA || !isPinned());
    }

    /**
     * Tells whether it stays on RDMA: memory of a GPU is registered for it, which the CPU may not touch. Any thread.
     */
    public boolean isPinned() {
        return session.registrations().values().stream().anyMatch(RegisteredMemory::isOfGpu);
    }

    /** Returns how its messages go over a path that it may take. */
    public MessageProtocol over(Path path) {
        return first.over(path);
    }

    /**
     * Returns how its messages are to go over a path that the peer offers to go on over.
     *
     * @throws IllegalArgumentException if they cannot
     */
    public MessageProtocol offered(Offer offer) {
        return first.offered(offer.kind(), offer.resumeCounts().orElseThrow().sends());
    }

    /** Queue pairs that it has at most. */
    public int queuePairs() {
        return queuePairs;
    }

    /** Queue pairs that it has while its messages go by that protocol. */
    public int queuePairs(MessageProtocol by) {
        return by == first ? queuePairs : 1;
    }

    /** The first of the paths in use, which stands for them in logs. */
    public PathChannel path() {
        return session.paths[0];
    }

    /** The paths in use. */
    public List<PathChannel> paths() {
        return List.of(session.paths);
    }

    public boolean isLost() {
        return session.lost;
    }
}
