package trigon.onesided;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.onesided.group.Traffic;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.system.Memory;

/** Ranks over a simulated transport, all moved by one thread once they are connected. */
@Timeout(300)
class OneSidedTest extends SimulatedRanks {

    /** Short and long ones in one order: when the signal is there, all are, each byte of them. */
    @ParameterizedTest
    @CsvSource({"2, 100, false", "2, 60, false", "3, 30, false", "2, 100, true", "3, 60, true"})
    void aSignalComesAfterAllThatWasPutBefore(int count, int percent, boolean onDevice) throws Exception {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        connect(count, seed, percent, onDevice);
        Random random = new Random(seed);
        Rank from = ranks.getFirst();
        Rank to = ranks.getLast();
        byte[] data = new byte[WINDOW_BYTES];
        random.nextBytes(data);
        Memory.copy(MemorySegment.ofArray(data), from.windowAddress, WINDOW_BYTES);
        long offset = 0;
        List<Long> requests = new ArrayList<>();
        long signal = 0;
        for (int i = 0; i < 60; i++) {
            int bytes = random.nextInt(4) == 0 ? random.nextInt(600_000) : random.nextInt(6000);
            bytes = (int) Math.min(bytes, WINDOW_BYTES - offset);
            boolean signals = random.nextInt(5) == 0;
            requests.add(put(from, offset, bytes, count - 1, signals ? OneSided.INCREMENT : 0));
            offset += bytes;
            if (signals) {
                signal++;
                await(to, 1, signal);
                assertThat(Memory.segment(to.windowAddress, offset)
                                .mismatch(Memory.segment(from.windowAddress, offset)))
                        .as("first byte that is not there with signal %d", signal)
                        .isEqualTo(-1);
            }
        }
        requests.forEach(request -> finish(from, request));
    }

    /** Short ones go with their records and long ones beside them; what was put last lies on top. */
    @ParameterizedTest
    @CsvSource({"100, false", "40, false", "100, true", "40, true"})
    void putsToOnePlaceKeepTheirOrder(int percent, boolean onDevice) throws Exception {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        connect(2, seed, percent, onDevice);
        Random random = new Random(seed);
        Rank from = ranks.getFirst();
        Rank to = ranks.getLast();
        int place = 20_000;
        byte[] data = new byte[WINDOW_BYTES];
        random.nextBytes(data);
        Memory.copy(MemorySegment.ofArray(data), from.windowAddress, WINDOW_BYTES);
        byte[] expected = new byte[place];
        List<Long> requests = new ArrayList<>();
        for (int i = 1; i <= 200; i++) {
            int offset = random.nextInt(place);
            int bytes = random.nextInt(random.nextBoolean() ? 5000 : place);
            bytes = Math.min(bytes, place - offset);
            int source = random.nextInt(WINDOW_BYTES - place);
            Transfer put = from.traffic()
                    .transfer()
                    .copy(source, from.window, bytes, offset, from.window)
                    .signal(8, from.signals, 1, OneSided.ADD);
            requests.add(from.traffic().put(put, 1));
            System.arraycopy(data, source, expected, offset, bytes);
            if (i % 20 == 0) {
                await(to, 1, i);
                assertThat(Memory.segment(to.windowAddress, place).mismatch(MemorySegment.ofArray(expected)))
                        .as("first byte that is not of the last put with signal %d", i)
                        .isEqualTo(-1);
            }
        }
        requests.forEach(request -> finish(from, request));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noAdditionIsLost(boolean onDevice) throws Exception {
        int count = 4;
        int each = 300;
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        connect(count, seed, 80, onDevice);
        Random random = new Random(seed);
        for (int i = 0; i < each; i++) {
            for (Rank rank : ranks) {
                long addend = random.nextInt(2);
                // every other word may be written by the GPU, too
                long request = rank.signal(2, 16, rank.signals, 2, addend == 0 ? OneSided.INCREMENT : OneSided.ADD);
                long other = rank.signal(2, 0, rank.window, addend, OneSided.ADD);
                expectedSignals += addend + 1;
                expectedWindow += addend;
                finish(rank, request);
                finish(rank, other);
            }
        }

        await(ranks.get(2), 2, expectedSignals);
        for (int looks = 0; Memory.getLongAcquire(ranks.get(2).windowAddress) != expectedWindow; looks++) {
            assertThat(looks).isLessThan(LOOKS);
            progress();
        }
    }

    private long expectedSignals;
    private long expectedWindow;

    @ParameterizedTest
    @CsvSource({"8, false", "4096, false", "4097, true", "2000000, false", "2000000, true"})
    void getsBringWhatTheOtherHas(int bytes, boolean onDevice) throws Exception {
        connect(2, 11, 70, onDevice);
        Rank asking = ranks.getFirst();
        Rank asked = ranks.getLast();
        byte[] data = new byte[bytes];
        new Random(bytes).nextBytes(data);
        Memory.copy(MemorySegment.ofArray(data), asked.windowAddress + 100, bytes);

        finish(asking, asking.get(100, bytes, 5000, 1));
        finish(asking, asking.traffic().flush());
        finish(asking, asking.get(5000, bytes, 2_100_000, 0));

        assertThat(Memory.segment(asking.windowAddress + 2_100_000, bytes)
                        .mismatch(Memory.segment(asked.windowAddress + 100, bytes)))
                .isEqualTo(-1);
    }

    @Test
    void aRankReachesItself() throws Exception {
        connect(1, 3, 100, true);
        Rank only = ranks.getFirst();
        Memory.putLong(only.windowAddress, 77);

        Transfer put = only.traffic()
                .transfer()
                .copy(0, only.window, 8, 64, only.window)
                .signal(0, only.signals, 5, OneSided.ADD);
        finish(only, only.traffic().put(put, 0));
        finish(only, put(only, 0, 0, 0, OneSided.INCREMENT));

        assertThat(Memory.getLong(only.windowAddress + 64)).isEqualTo(77);
        assertThat(Memory.getLong(only.signalsAddress)).isEqualTo(5);
        assertThat(Memory.getLong(only.signalsAddress + 8)).isEqualTo(1);
    }

    /** At the first further call, whichever that is: NCCL's older proxies look at few results. */
    @Test
    void aLostPeerFailsEveryCallFromThenOn() throws Exception {
        SimulatedNet net = new SimulatedNet(5, 80);
        connect(3, net, false, rank -> WINDOW_BYTES);
        Rank rank = ranks.getFirst();
        finish(rank, put(rank, 0, 100, 1, OneSided.INCREMENT));
        long pending = put(rank, 0, 1 << 20, 2, OneSided.INCREMENT);
        net.cut(2);
        int failure = -NcclResult.REMOTE_ERROR.code();

        for (int looks = 0; rank.oneSided.progress(rank.context) == 0; looks++) {
            assertThat(looks).isLessThan(LOOKS);
        }
        assertThat(rank.oneSided.test(rank.comm, pending)).isEqualTo(failure);
        assertThat(put(rank, 0, 8, 1, 0)).isEqualTo(failure);
        assertThat(rank.traffic().flush()).isEqualTo(failure);
        assertThat(rank.oneSided.hasFailed(rank.context)).isTrue();
    }

    @Test
    void wrongUseIsRefusedAndHarmsNobody() throws Exception {
        connect(2, 1, 100, false);
        Rank rank = ranks.getFirst();
        long invalid = -NcclResult.INVALID_ARGUMENT.code();
        OneSided oneSided = rank.oneSided;

        assertThat(put(rank, WINDOW_BYTES - 8, 16, 1, 0))
                .as("beyond the window")
                .isEqualTo(invalid);
        assertThat(put(rank, -8, 16, 1, 0)).as("before the window").isEqualTo(invalid);
        assertThat(put(rank, 0, 8, 2, 0)).as("no such rank").isEqualTo(invalid);
        assertThat(put(rank, 0, 8, -1, 0)).as("no such rank").isEqualTo(invalid);
        assertThat(put(rank, 0, 8, 1, 9)).as("no such operation").isEqualTo(invalid);
        assertThat(oneSided.traffic(rank.context, 2)).as("no such context").isNull();
        assertThat(oneSided.traffic(rank.context + 77, 0)).as("no such handle").isNull();
        Traffic traffic = rank.traffic();
        assertThat(traffic.put(traffic.transfer().copy(0, 99, 8, 0, rank.window), 1))
                .as("no such window")
                .isEqualTo(invalid);
        assertThat(traffic.get(traffic.transfer().copy(0, 0, 0, 0, rank.window), 1))
                .as("a get of no bytes from no window")
                .isEqualTo(invalid);
        assertThat(rank.signal(1, 4, rank.signals, 1, OneSided.ADD))
                .as("a signal that is not aligned")
                .isEqualTo(invalid);
        assertThat((long) oneSided.test(rank.comm, 12345)).as("no such request").isEqualTo(invalid);
        oneSided.destroyContext(rank.context);
        assertThat(oneSided.traffic(rank.context, 0)).as("a destroyed context").isNull();

        rank.context = rank.comm;
        long request = put(rank, 0, 8, 1, OneSided.INCREMENT);
        finish(rank, request);
        assertThat((long) oneSided.test(rank.comm, request)).as("asked twice").isEqualTo(invalid);
    }

    @Test
    void windowsOfDifferentSizesAreRefusedByAll() {
        assertThatThrownBy(() -> connect(3, new SimulatedNet(2, 100), false, rank -> WINDOW_BYTES - 8 * (rank / 2)))
                .cause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("all ranks have to register windows of one size");
    }

    @Test
    void memoryOfAGpuNeedsItsDriver() throws Exception {
        connect(1, 1, 100, false);
        Rank rank = ranks.getFirst();

        assertThatThrownBy(() -> rank.oneSided.register(rank.comm, rank.windowAddress, 64, true, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("libcuda.so.1", "TRIGON_ONE_SIDED=off");
    }

    @Test
    void whoDoesNotComeIsNamed() {
        SimulatedNet net = new SimulatedNet(1, 100);
        AtomicLong secondsWithEachLook = new AtomicLong();
        OneSided alone = new OneSided(
                net.of(0),
                () -> GpuMemory.NONE,
                () -> secondsWithEachLook.addAndGet(1_000_000_000),
                Duration.ofMinutes(5));
        long handles = arena.allocate(16, 8).address();
        long handle = arena.allocate(NetPlugin.HANDLE_BYTES, 8).address();
        Memory.putLong(handles, handle);
        Memory.putLong(handles + 8, arena.allocate(NetPlugin.HANDLE_BYTES, 8).address());
        long listener = alone.listen(0, 0, handle);

        assertThatThrownBy(() -> alone.connect(handles, 2, 0, listener, true))
                .hasMessageContaining("rank 1 has not answered within");
    }
}
