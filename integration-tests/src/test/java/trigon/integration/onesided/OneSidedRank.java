package trigon.integration.onesided;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import trigon.nccl.NetPlugin;
import trigon.onesided.OneSided;
import trigon.onesided.group.Traffic;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.testsupport.TestNode;

/**
 * A rank on a node, moved by one thread. In its window each rank has a place to put from, and one for what each other
 * rank puts there; of its words, one counts the puts of each rank, and the next ones what was seen there by each.
 */
final class OneSidedRank implements AutoCloseable {

    /** One that goes with its record, the longest of these, and longer ones. */
    private static final int[] SIZES = {8, 4096, 4097, 70_000, 1 << 20, 300_000};

    private static final int PLACE = 1 << 20;
    private static final int WORDS_BYTES = 4096;

    private final OneSided oneSided;
    private final int number;
    private final int ranks;
    private final Duration patience;
    private final long listener;
    private final long memory;
    private final long words;
    private long comm;
    private long context;
    private long window;
    private long signals;

    OneSidedRank(TestNode node, int number, int ranks, long handle, Duration patience) {
        oneSided = new OneSided(node.plugin, () -> GpuMemory.NONE, System::nanoTime, patience);
        this.number = number;
        this.ranks = ranks;
        this.patience = patience;
        listener = oneSided.listen(oneSided.openContext(1), 0, handle);
        memory = node.allocate(windowBytes());
        words = node.allocate(WORDS_BYTES);
    }

    private long windowBytes() {
        return (long) (ranks + 1) * PLACE;
    }

    void connect(long handles) {
        comm = oneSided.connect(handles, ranks, number, listener, false);
        oneSided.closeListen(listener);
        context = oneSided.createContext(comm, 2, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        window = oneSided.register(comm, memory, windowBytes(), false, false);
        signals = oneSided.register(comm, words, WORDS_BYTES, false, true);
    }

    /** A round for each size; each rank looks at what the others have put before the next. */
    void putToAll() {
        for (int round = 0; round < SIZES.length; round++) {
            fill(round);
            List<Long> requests = new ArrayList<>();
            for (int to = 0; to < ranks; to++) {
                requests.add(put(round % 2, SIZES[round], to, number));
                requests.add(put(1, 0, 0, 2 * ranks));
            }
            requests.forEach(this::finish);
            for (int from = 0; from < ranks; from++) {
                await(from, round + 1);
                check(from, round);
                finish(put(0, 0, from, ranks + number));
            }
            for (int other = 0; other < ranks; other++) {
                await(ranks + other, round + 1);
            }
        }
        if (number == 0) {
            await(2 * ranks, (long) SIZES.length * ranks * ranks);
        }
    }

    /** What each rank has put last, from where it has put it from. */
    void getFromAll() {
        int round = SIZES.length - 1;
        for (int from = 0; from < ranks; from++) {
            long place = (long) (1 + from) * PLACE;
            Memory.fill(memory + place, SIZES[round], (byte) 0);
            Transfer get = traffic(0).transfer().copy(0, window, SIZES[round], place, window);
            finish(traffic(0).get(get, from));
            finish(traffic(0).flush());
            check(from, round);
        }
    }

    private long put(int within, int bytes, int to, int word) {
        Traffic traffic = traffic(within);
        long used = bytes == 0 ? 0 : window;
        Transfer put = traffic.transfer()
                .copy(0, used, bytes, (long) (1 + number) * PLACE, used)
                .signal(8L * word, signals, 1, OneSided.ADD);
        return traffic.put(put, to);
    }

    private Traffic traffic(int within) {
        return Objects.requireNonNull(oneSided.traffic(context, within));
    }

    private void finish(long request) {
        assertThat(request).as("a request").isPositive();
        progressUntil("a request is done", () -> {
            int done = oneSided.test(comm, request);
            assertThat(done).as("test").isNotNegative();
            return done == 1;
        });
    }

    private void await(int word, long value) {
        progressUntil(
                "signal %d of rank %d is %d".formatted(word, number, value),
                () -> Memory.getLongAcquire(words + 8L * word) >= value);
        assertThat(Memory.getLongAcquire(words + 8L * word))
                .as("signal %d of rank %d", word, number)
                .isEqualTo(value);
    }

    void progressUntil(String what, BooleanSupplier condition) {
        Await.until(what, patience, () -> {
            assertThat(oneSided.progress(context)).as("progress").isZero();
            return condition.getAsBoolean();
        });
    }

    private void fill(int round) {
        for (int at = 0; at < SIZES[round]; at++) {
            Memory.putByte(memory + at, byteOf(number, round, at));
        }
    }

    private void check(int from, int round) {
        long place = memory + (long) (1 + from) * PLACE;
        for (int at = 0; at < SIZES[round]; at++) {
            if (Memory.getByte(place + at) != byteOf(from, round, at)) {
                throw new AssertionError(
                        "byte %d of %d from rank %d at rank %d is wrong".formatted(at, SIZES[round], from, number));
            }
        }
    }

    private static byte byteOf(int rank, int round, int at) {
        return (byte) (at * 31 + (at >> 8) + rank * 7 + round * 13);
    }

    @Override
    public void close() {
        oneSided.closeComm(comm);
    }
}
