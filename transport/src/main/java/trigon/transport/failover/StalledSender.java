package trigon.transport.failover;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import trigon.system.kernel.TcpEnds;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.search.PathCheck;
import trigon.transport.failover.search.PathSearch;
import trigon.transport.path.PathChannel;
import trigon.transport.session.Resumption;

/**
 * A sender's answer to messages that do not arrive, though the peer is heard: the kernel repeats what a path in use has
 * sent. A connection of its own there says whether packets of the full size pass; if they are lost, or only this path's
 * connection is of no use, the path is broken. A receiver that merely waits is none of that: its kernel answers.
 */
final class StalledSender implements StallWatch.Watched {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(16);

    /** Checks in succession that pass, while the kernel still repeats, after which the connection is made anew. */
    private static final int MAX_PASSED = 3;

    private static final String TOO_LONG = "packets of the full size are lost there, and smaller ones pass";
    private static final String STUCK =
            "what it has sent is not acknowledged, though new connections get through there";

    private final Counterpart peer;
    private final Resumption session;
    private final PathSearch paths;
    private final PathSuspicion suspicion;
    private final FailoverEnd end;
    private final FailoverSteps steps;
    private final BiConsumer<PathChannel, String> broken;

    // of the thread that looks
    private long sent = -1;
    private long nextCheck;
    private Duration pause = FIRST_PAUSE;

    /** Checks that have passed since something was last sent. */
    private final AtomicInteger passed = new AtomicInteger();

    /**
     * One whose messages get on.
     *
     * @param broken is told of a path in use over which they do not, and why
     */
    StalledSender(
            Counterpart peer,
            Resumption session,
            FailoverServices services,
            PathSuspicion suspicion,
            FailoverEnd end,
            BiConsumer<PathChannel, String> broken) {
        this.peer = peer;
        this.session = session;
        paths = services.paths();
        this.suspicion = suspicion;
        this.end = end;
        this.broken = broken;
        // what cannot be asked now is asked at the next check
        steps = new FailoverSteps(services.tasks(), session, _ -> {}, _ -> {});
    }

    /**
     * {@inheritDoc} The longer nothing is sent, the more seldom: a connection that is idle looks like one that is
     * stuck.
     */
    @Override
    public boolean advance(long now) {
        long known = session.paths().stream()
                .mapToLong(path -> path.counters().bytes())
                .sum();
        if (known != sent) {
            sent = known;
            passed.set(0);
            pause = FIRST_PAUSE;
            nextCheck = now + pause.toNanos();
            return false;
        }
        if (now - nextCheck < 0) {
            return false;
        }
        Duration doubled = pause.multipliedBy(2);
        pause = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
        nextCheck = now + pause.toNanos();
        return true;
    }

    @Override
    public void check(Set<TcpEnds> unanswered) {
        for (PathChannel path : session.paths()) {
            Optional<TcpEnds> ends = path.queuePair().connection();
            if (ends.filter(unanswered::contains).isPresent() && isInUse(path)) {
                steps.beginWith(paths.check(peer, session, path), outcome -> judge(path, outcome));
            }
        }
    }

    private void judge(PathChannel path, PathCheck outcome) {
        if (!isInUse(path)) {
            return;
        }
        switch (outcome) {
            case NARROW -> broken.accept(path, TOO_LONG);
            case PASSED -> {
                if (passed.incrementAndGet() >= MAX_PASSED) {
                    broken.accept(path, STUCK);
                }
            }
            case SILENT -> {}
        }
    }

    private boolean isInUse(PathChannel path) {
        return !end.isReached() && suspicion.isOf(path) && !suspicion.isThere();
    }
}
