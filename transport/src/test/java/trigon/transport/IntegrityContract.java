package trigon.transport;

import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.ProcessResources;
import trigon.testsupport.Seed;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * Random traffic between two nodes, whatever their links do to it short of losing the connection: every byte arrives as
 * it was sent, once, where it belongs, and nothing is left open. A subclass says what links, and what is done to them.
 */
@Timeout(7200)
public abstract class IntegrityContract {

    /** How long the traffic goes on by itself. */
    private static final String SECONDS = "trigon.integrity.seconds";

    /** For the buffers that NIO keeps for each thread that still lives. */
    static final long TOLERATED_BYTES = 1 << 20;

    /**
     * Traffic between the cluster's nodes a and b.
     *
     * @param defaultSeconds for which it goes on unless the system property {@value #SECONDS} says otherwise
     */
    protected final void everyByteArrives(TestCluster cluster, int defaultSeconds) throws InterruptedException {
        Duration duration = Duration.ofSeconds(Integer.getInteger(SECONDS, defaultSeconds));
        ProcessResources before = afterWarmingUp(cluster);
        long seed = Seed.next();
        TestNode a = cluster.open("a");
        TestNode b = cluster.open("b");
        try {
            System.err.println(new RandomTraffic(a, b, seed).run(duration));
        } finally {
            a.close();
            b.close();
        }
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
        ProcessResources.assertNothingMoreThan(before, TOLERATED_BYTES, "seed " + seed);
    }

    /** What the process has open once a connection has come and gone: a few things the JVM opens once and keeps. */
    static ProcessResources afterWarmingUp(TestCluster cluster) {
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            Connected ab = new Connected(a, b);
            a.plugin.closeSend(ab.sendComm);
            b.plugin.closeReceive(ab.receiveComm);
        }
        return ProcessResources.now();
    }
}
