package trigon.transport.failover;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.search.Found;
import trigon.transport.failover.search.PathPenalty;
import trigon.transport.failover.search.PathSearch;
import trigon.transport.failover.search.ProvenEnds;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathKeeper;
import trigon.transport.path.PathLoss;
import trigon.transport.session.Resumption;

/**
 * A receiver's answer to silence. The sender leads; yet where only what it sends is lost, it hears its peer, and
 * learns of that late. So the receiver asks over all paths. Once the sender has answered over one of them, and nothing
 * is heard over the path in use a moment later, either, that path is broken. Thread-safe; never waits.
 */
final class UnheardSender {

    private final Counterpart peer;
    private final Resumption session;
    private final PathSearch paths;
    private final PathSuspicion suspicion;
    private final FailoverEnd end;
    private final FailoverSteps steps;
    private final BiConsumer<PathChannel, String> broken;
    private final ProvenEnds proven = new ProvenEnds();
    private final AtomicBoolean asking = new AtomicBoolean();

    /**
     * One that is heard.
     *
     * @param broken is told of a path in use over which nothing comes any more, and why
     */
    UnheardSender(
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
        // what cannot be asked now is asked when the silence lasts: that alone is no reason to give up
        steps = new FailoverSteps(services.tasks(), session, _ -> asking.set(false), _ -> asking.set(false));
    }

    /**
     * Looks after the silence of a path in use from now on, over which the sender has proven itself.
     *
     * @param takeOver looks after its loss
     */
    void lookAfter(PathChannel path, Predicate<PathLoss> takeOver) {
        proven.add(path);
        path.keptBy(new PathKeeper() {
            @Override
            public boolean takeOver(PathLoss loss) {
                return takeOver.test(loss);
            }

            @Override
            public void suspect() {
                UnheardSender.this.suspect(path);
            }
        });
    }

    /** Asks over the paths that there are whether it lives. May block to find out which there are. */
    CompletableFuture<Found> ask() {
        return paths.find(
                peer, peer.connection().ofConnectingSide(), session, _ -> PathPenalty.NONE, proven, end.reached());
    }

    private void suspect(PathChannel path) {
        if (isUnheard(path) && asking.compareAndSet(false, true)) {
            steps.begin(() -> steps.beginWith(ask(), found -> judge(path, found)));
        }
    }

    private void judge(PathChannel path, Found found) {
        if (found.alive().isEmpty()) {
            asking.set(false); // it is stopped, or gone
        } else if (path.link().isUp()) {
            steps.beginLater(PathSuspicion.HEARING, () -> decide(path));
        } else {
            decide(path);
        }
    }

    private void decide(PathChannel path) {
        if (isUnheard(path)) {
            broken.accept(path, suspicion.words());
        }
        asking.set(false);
    }

    private boolean isUnheard(PathChannel path) {
        return !end.isReached()
                && suspicion.isOf(path)
                && (path.isQuiet() || !path.link().isUp());
    }
}
