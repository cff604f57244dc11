package trigon.transport.failover;

import java.time.Duration;
import trigon.config.HandshakeConfig;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.connect.ControlTasks;
import trigon.transport.connect.LocalSide;
import trigon.transport.failover.search.PathQuestions;
import trigon.transport.failover.search.PathSearch;
import trigon.transport.failover.search.Peers;

/**
 * The services that the failovers of all sessions of a process share. Thread-safe.
 *
 * @param paths finds paths over which peers answer
 * @param offers brings up new queue pairs
 * @param failbacks has senders look for the links that they have left
 * @param stalls watches over the messages of senders
 * @param tasks does the work
 * @param peerTimeout so long a failover goes on without a path
 */
record FailoverServices(
        PathSearch paths,
        PathOffers offers,
        FailbackTimer failbacks,
        StallWatch stalls,
        FailoverTasks tasks,
        Duration peerTimeout) {

    /** Those of a process, by what it brings into its connections. */
    static FailoverServices of(LocalSide side, CandidatePaths candidates, ControlTasks control, FailoverTasks tasks) {
        HandshakeConfig limits = side.client().config();
        return new FailoverServices(
                new PathSearch(
                        side.links(),
                        candidates,
                        new PathQuestions(side.client(), tasks.clock()),
                        new Peers(limits.peerTimeout(), limits.stoppedTimeout(), tasks.clock()),
                        tasks::after),
                new PathOffers(side),
                new FailbackTimer(control.blocking(FailbackTimer.WHILE)),
                new StallWatch(control.brief(StallWatch.LOOK), control.control(), tasks.clock()),
                tasks,
                limits.peerTimeout());
    }
}
