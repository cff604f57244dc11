package trigon.transport.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.transport.StateDiagram;

/** The machine beside a device whose port goes up and down at random, and beside its diagram. */
class FlushReadsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int STEPS = 200_000;

    /** A device: it withholds what it has written until it READs; a queue pair fails with its first failed READ. */
    private static final class Device {

        private final Queue<Long> reads = new ArrayDeque<>();
        private boolean up = true;
        private boolean broken;

        /** What it has written, and what of it is there: flushes that were begun by then. */
        private long written;

        private long there = -1;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void noFlushIsDoneBeforeWhatItIsOfIsThere(long seed) {
        Random random = new Random(seed);
        FlushReads reads = new FlushReads(PATIENCE);
        Device device = new Device();
        Map<Long, Long> underWay = new TreeMap<>(); // by number: what it is of
        long next = 0;
        long done = 0;
        int repairs = 0;
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(8)) {
                case 0 -> device.written++;
                case 1 -> {
                    if (underWay.size() < Flushes.MAX && !reads.owes(FlushReads.slot(next))) {
                        underWay.put(next, device.written);
                        reads.add(next++);
                    }
                }
                case 2, 3 -> post(reads, device, next);
                case 4, 5 -> complete(reads, device, step);
                case 6 -> device.up = random.nextInt(4) != 0;
                default -> {
                    if (reads.beginRepair(step)) {
                        device.reads.clear();
                        repairs++;
                    }
                    if (reads.state() == FlushReads.State.REPAIRING && random.nextBoolean()) {
                        device.broken = false;
                        reads.endRepair();
                    }
                }
            }
            for (var flush : Map.copyOf(underWay).entrySet()) {
                if (!reads.owes(FlushReads.slot(flush.getKey()))) {
                    assertThat(device.there)
                            .as("seed %d, step %d", seed, step)
                            .isGreaterThanOrEqualTo(flush.getValue());
                    underWay.remove(flush.getKey());
                    done++;
                }
            }
            assertThat(reads.state()).isNotEqualTo(FlushReads.State.FAILED);
        }
        assertThat(done).as("seed %d", seed).isGreaterThan(1000);
        assertThat(repairs).as("seed %d", seed).isGreaterThan(100);
    }

    private static void post(FlushReads reads, Device device, long next) {
        for (int slot = reads.nextToPost(); slot != FlushReads.NO_SLOT; slot = reads.nextToPost()) {
            long number = next - 1;
            while (FlushReads.slot(number) != slot) {
                number--;
            }
            device.reads.add(number);
            reads.markPosted(slot);
        }
    }

    private static void complete(FlushReads reads, Device device, long nanoTime) {
        if (!reads.isReading()) {
            return;
        }
        if (!device.up || device.broken) {
            device.broken = true;
            device.reads.clear();
            reads.breakDown(nanoTime);
            return;
        }
        device.there = device.written;
        reads.succeed(device.reads.remove());
    }

    @Test
    void aDeviceThatHasCeasedToCarryIsReadOnceMore() {
        FlushReads reads = new FlushReads(PATIENCE);
        reads.add(0);
        reads.carry(false, 1);
        reads.markPosted(reads.nextToPost());
        reads.succeed(0);
        assertThat(reads.isNeeded()).as("the READ was begun before").isTrue();
        reads.add(1);
        reads.markPosted(reads.nextToPost());
        reads.succeed(1);

        assertThat(reads.isNeeded()).isFalse();
        reads.carry(true, 2);
        assertThat(reads.isNeeded()).isTrue();
    }

    /** The time runs from the first failure after a success. */
    @Test
    void patienceEndsWhenNothingIsReadForThatLong() {
        FlushReads reads = new FlushReads(PATIENCE);
        long limit = PATIENCE.toNanos();
        reads.add(0);
        fail(reads, 0);
        fail(reads, limit);
        reads.markPosted(reads.nextToPost());
        reads.succeed(0);
        reads.add(1);
        fail(reads, limit + 1);
        fail(reads, 2 * limit + 1);
        assertThat(reads.isWaiting()).isFalse();
        assertThat(reads.state()).isEqualTo(FlushReads.State.READY);
        reads.breakDown(2 * limit + 2);

        assertThat(reads.state()).isEqualTo(FlushReads.State.FAILED);
    }

    /** However long nobody has needed it. */
    @Test
    void patienceBeginsAgainWithTheNextFlush() {
        FlushReads reads = new FlushReads(PATIENCE);
        reads.add(0);
        reads.breakDown(0);
        assertThat(reads.beginRepair(0)).isTrue();
        reads.settle();
        reads.breakDown(1);
        reads.add(1);
        fail(reads, 10 * PATIENCE.toNanos());

        assertThat(reads.state()).isEqualTo(FlushReads.State.READY);
    }

    /** However long there has been trouble before. */
    @Test
    void aRepairHasItsOwnTime() {
        FlushReads reads = new FlushReads(PATIENCE);
        long limit = PATIENCE.toNanos();
        reads.add(0);
        fail(reads, 0);
        reads.breakDown(limit);
        assertThat(reads.beginRepair(limit)).isTrue();

        assertThat(reads.failLateRepair(2 * limit)).isFalse();
        assertThat(reads.isWaiting()).isTrue();
        assertThat(reads.failLateRepair(2 * limit + 1)).isTrue();
        assertThat(reads.state()).isEqualTo(FlushReads.State.FAILED);
    }

    private static void fail(FlushReads reads, long nanoTime) {
        reads.breakDown(nanoTime);
        assertThat(reads.isWaiting()).isTrue();
        assertThat(reads.beginRepair(nanoTime)).isTrue();
        assertThat(reads.beginRepair(nanoTime)).as("once").isFalse();
        reads.endRepair();
    }

    /** Nobody needs another queue pair then. */
    @Test
    void nothingIsRepairedWithoutAFlush() {
        FlushReads reads = new FlushReads(PATIENCE);
        reads.breakDown(0);

        assertThat(reads.beginRepair(0)).isFalse();
        assertThat(reads.isWaiting()).isFalse();
        reads.add(0);
        assertThat(reads.nextToPost()).isEqualTo(FlushReads.NO_SLOT);
        assertThat(reads.beginRepair(0)).isTrue();
    }

    @Test
    void changesAsTheDiagramSays() throws IOException {
        Set<String> found = new TreeSet<>();
        for (FlushReads.State from : FlushReads.State.values()) {
            for (Event event : Event.values()) {
                FlushReads reads = in(from);
                event.happen(reads);
                if (reads.state() != from) {
                    found.add("%s --> %s: %s".formatted(from, reads.state(), event.word()));
                }
            }
        }

        assertThat(found).isEqualTo(StateDiagram.transitions("FlushReads"));
    }

    private enum Event {
        BREAKDOWN,
        PATIENCE,
        LATE,
        REPAIR,
        REPAIRED,
        REFUSED;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        void happen(FlushReads reads) {
            switch (this) {
                case BREAKDOWN -> reads.breakDown(1);
                case PATIENCE -> reads.breakDown(FlushReadsTest.PATIENCE.toNanos() + 1);
                case LATE -> reads.failLateRepair(FlushReadsTest.PATIENCE.toNanos() + 2);
                case REPAIR -> reads.beginRepair(1);
                case REPAIRED -> reads.endRepair();
                case REFUSED -> reads.fail();
            }
        }
    }

    private static FlushReads in(FlushReads.State state) {
        FlushReads reads = new FlushReads(PATIENCE);
        reads.add(0);
        fail(reads, 0);
        switch (state) {
            case READY -> {}
            case BROKEN -> reads.breakDown(1);
            case REPAIRING -> {
                reads.breakDown(1);
                assertThat(reads.beginRepair(1)).isTrue();
            }
            case FAILED -> reads.fail();
        }
        assertThat(reads.state()).isEqualTo(state);
        return reads;
    }
}
