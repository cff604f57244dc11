package trigon.handshake;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import trigon.handshake.lifeline.HandshakeEventLoop;

/**
 * What established connections cost that nobody uses: processor time of the two event loops, one of which has the
 * listening ends and the other the connecting ones.
 */
public final class LifelineBenchmark {

    private static final int SECONDS = 20;

    private LifelineBenchmark() {}

    /** Takes the number of connections, or several of them. */
    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            measure(Integer.parseInt(argument));
        }
    }

    private static void measure(int count) throws Exception {
        try (NodePair pair = new NodePair()) {
            List<Lifeline> lifelines = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                lifelines.add(pair.establish(pair.connect(1)).lifeline());
            }
            Thread.sleep(5000); // the compiler has seen it then
            long before = processorNanos();
            Thread.sleep(TimeUnit.SECONDS.toMillis(SECONDS));
            double milliseconds = (processorNanos() - before) / 1e6 / SECONDS / 2;
            if (lifelines.stream().anyMatch(lifeline -> lifeline.lost().isDone())) {
                throw new AssertionError("a connection was lost");
            }
            System.out.printf(
                    "%d connections: %.1f ms of processor time per second and process%n", count, milliseconds);
        }
    }

    private static long processorNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().equals(HandshakeEventLoop.THREAD_NAME)) {
                sum += threads.getThreadCpuTime(thread.getThreadId());
            }
        }
        return sum;
    }
}
