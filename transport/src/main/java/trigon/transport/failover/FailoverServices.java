package trigon.transport.failover;

import java.time.Duration;
import trigon.system.NanoClock;
import trigon.transport.failover.search.PathSearch;

/**
 * The services that the failovers of all sessions of a process share. Thread-safe.
 *
 * @param paths finds paths over which peers answer
 * @param offers brings up new queue pairs
 * @param failbacks has senders look for the links that they have left
 * @param stalls watches over the messages of senders
 * @param tasks does the work
 * @param peerTimeout so long a failover goes on without a path
 * @param clock what all that waits goes by
 */
record FailoverServices(
        PathSearch paths,
        PathOffers offers,
        FailbackTimer failbacks,
        StallWatch stalls,
        FailoverTasks tasks,
        Duration peerTimeout,
        NanoClock clock) {}
