package trigon.transport.session;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.transport.path.Link;

/**
 * What the log says of the flushes over a link: the same for all connections over it, since a cut cable takes all of
 * them. Thread-safe.
 */
final class FlushLog {

    private static final Logger log = LoggerFactory.getLogger(FlushLog.class);

    private final Link link;
    private final RareMessage waiting = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);
    private final RareMessage byDriver = new RareMessage(log, Level.INFO, NanoClock.SYSTEM);

    private final RareMessage driverFailures = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);

    /** Connections whose flushes wait. */
    private int waits;

    /** Whether the log's last word is that flushes wait. */
    private boolean lastWordIsWaiting;

    FlushLog(Link link) {
        this.link = link;
    }

    /** Another connection's flushes wait. */
    synchronized void beginWait(String why) {
        waits++;
        lastWordIsWaiting |=
                waiting.log(("what came over %s cannot be flushed to the GPU yet: %s. It is tried again until"
                                + " handshake.peerTimeout; check the cable, and the port with ibv_devinfo -d %s")
                        .formatted(link, why, link.device().deviceName()));
    }

    /** The flushes of a connection that has waited go on. */
    synchronized void endWait() {
        waits--;
        if (waits == 0 && lastWordIsWaiting) {
            lastWordIsWaiting = false;
            log.info("what came over {} is flushed to the GPU again", link);
        }
    }

    /** A connection is closed whose flushes wait. */
    synchronized void abandonWait() {
        waits--;
    }

    /** The driver has flushed what the device could not. */
    void flushedByDriver(String why) {
        byDriver.log("what came over %s is flushed to the GPU by the CUDA driver, as the device cannot: %s"
                .formatted(link, why));
    }

    /** The driver cannot even be asked. */
    void driverFailed(Throwable why) {
        driverFailures.log("the CUDA driver cannot be asked to flush what came over %s: %s".formatted(link, why));
    }
}
