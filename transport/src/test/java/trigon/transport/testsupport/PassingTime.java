package trigon.transport.testsupport;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.system.NanoClock;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/**
 * The time of several nodes. It stands still unless the test lets it pass, and then it passes in small steps: the next
 * one begins when every node's event loop has gone round several times. So signs of life are said and heard in time,
 * however slow the machine is.
 */
final class PassingTime {

    private static final Duration STEP = Duration.ofMillis(100);

    /** An event loop asks for the time once or twice in each round. */
    private static final int LOOKS = 4;

    private final ManualClock clock = new ManualClock();
    private final List<NodeClock> nodes = new CopyOnWriteArrayList<>();

    /** A node's clock, which knows how often the node's event loop has looked at it. */
    private final class NodeClock implements NanoClock {

        private final AtomicInteger looks = new AtomicInteger();

        @Override
        public long nanoTime() {
            if (Thread.currentThread().getName().equals(HandshakeEventLoop.THREAD_NAME)) {
                looks.incrementAndGet();
            }
            return clock.nanoTime();
        }
    }

    /** The clock of one more node. */
    NanoClock ofNode() {
        NodeClock added = new NodeClock();
        nodes.add(added);
        return added;
    }

    /** A node is at its end: nothing waits for it any more. */
    void ended(NanoClock node) {
        nodes.removeIf(node::equals);
    }

    /** Lets so much time pass for all nodes. */
    void pass(Duration time) {
        for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
            pass();
        }
    }

    /** Lets a moment pass, and waits until each node has done what was due. */
    void pass() {
        clock.advance(STEP);
        nodes.forEach(node -> node.looks.set(0));
        for (NodeClock node : nodes) {
            Await.until("the event loop goes round", () -> node.looks.get() >= LOOKS);
        }
    }
}
