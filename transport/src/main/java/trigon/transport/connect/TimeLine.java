package trigon.transport.connect;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The stages of one connection on its way up, and how long each took in all attempts; for the log. One thread. */
final class TimeLine {

    private final long begun = System.nanoTime();
    private final Map<String, Long> stages = new LinkedHashMap<>();
    private long last = begun;

    /** A stage is over, which began when the one before ended. */
    void reached(String stage) {
        long now = System.nanoTime();
        stages.merge(stage, now - last, Long::sum);
        last = now;
    }

    /** Returns when NCCL asked for the connection, by {@link System#nanoTime}. */
    long begun() {
        return begun;
    }

    /** As in a log: {@code 61 ms (paths 12, offers 8, answers 30, queue pairs 3, ready 8)}. */
    @Override
    public String toString() {
        return stages.entrySet().stream()
                .map(stage -> stage.getKey() + " " + TimeUnit.NANOSECONDS.toMillis(stage.getValue()))
                .collect(Collectors.joining(", ", TimeUnit.NANOSECONDS.toMillis(last - begun) + " ms (", ")"));
    }
}
