package trigon.onesided;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.nccl.NcclResult;
import trigon.system.Memory;
import trigon.testsupport.Await;

/** Ranks that end, that fail, and what the others keep. */
@Timeout(300)
class LeavingTest extends SimulatedRanks {

    private static final int REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    @Test
    void aRankThatEndsDoesNotEndTheOthers() throws Exception {
        SimulatedNet net = new SimulatedNet(3, 80);
        connect(3, net, false, rank -> WINDOW_BYTES);
        Rank first = ranks.get(0);
        Rank second = ranks.get(1);
        Rank leaver = ranks.get(2);
        finish(leaver, put(leaver, 0, 100, 0, OneSided.INCREMENT));

        leave(leaver);
        net.cut(2); // as its connections end some time later

        assertThat(Memory.getLongAcquire(first.signalsAddress + 8))
                .as("what it had put")
                .isEqualTo(1);
        finish(first, put(first, 0, 100_000, 1, OneSided.INCREMENT));
        finish(second, put(second, 0, 100, 0, OneSided.INCREMENT));
        await(first, 1, 2);
        assertThat(first.oneSided.hasFailed(first.context)).isFalse();

        assertThat(put(first, 0, 8, 2, 0)).as("a put to who has left").isEqualTo(REMOTE_ERROR);
        assertThat(first.oneSided.hasFailed(first.context)).isTrue();
    }

    /** By asking once more it would learn that the connection has failed, which ends the whole communicator. */
    @Test
    void nothingIsAskedOfAConnectionWhoseRankHasSaidThatItLeaves() throws Exception {
        SimulatedNet net = new SimulatedNet(3, 100);
        connect(3, net, false, rank -> WINDOW_BYTES);
        net.endByLeaving();

        leave(ranks.get(2));

        assertThat(net.failuresTold()).isZero();
    }

    @Test
    void aGetFromWhoHasLeftFails() throws Exception {
        connect(2, 4, 90, false);
        Rank first = ranks.getFirst();
        leave(ranks.get(1));

        long request = first.get(0, 8, 64, 1);
        assertThat(request).isEqualTo(REMOTE_ERROR);
    }

    /** It is asked while it ends: its answer comes just in time, or nobody waits for it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void aGetThatMeetsTheEndOfARankEnds(long seed) throws Exception {
        connect(2, seed, 40, false);
        Rank first = ranks.get(0);
        Rank leaver = ranks.get(1);
        long request = first.get(0, 8, 64, 1);
        assertThat(request).isPositive();

        Future<?> closed = threads.submit(() -> leaver.oneSided.closeComm(leaver.comm));
        int[] result = new int[1];
        Await.until("the get ends", () -> {
            result[0] = first.oneSided.test(first.comm, request);
            return result[0] != 0;
        });
        closed.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);

        assertThat(result[0]).isIn(1, REMOTE_ERROR);
    }

    /** Closes a rank while the others go on, and has them hear of it. */
    private void leave(Rank leaver) throws Exception {
        ranks.remove(leaver);
        Future<?> closed = threads.submit(() -> leaver.oneSided.closeComm(leaver.comm));
        Await.until("it has left", () -> {
            progress();
            return closed.isDone();
        });
        closed.get();
        for (int looks = 0; looks < 10_000; looks++) {
            progress();
        }
    }

    /** Who puts is told that it is done as soon as the record has gone: it has to have its effect then. */
    @Test
    void whatHasArrivedIsAppliedThoughItsSenderIsLost() throws Exception {
        SimulatedNet net = new SimulatedNet(6, 100);
        connect(2, net, true, rank -> WINDOW_BYTES);
        Rank to = ranks.get(0);
        Rank from = ranks.get(1);
        devices.forEach(device -> device.hold(true));
        long request = put(from, 0, 0, 0, OneSided.INCREMENT);
        finish(from, request);
        for (int looks = 0; looks < 1000; looks++) {
            progress();
        }
        assertThat(Memory.getLongAcquire(to.signalsAddress + 8)).isZero();

        net.cut(1);
        assertThat(to.oneSided.progress(to.context))
                .as("while a signal is being written")
                .isZero();
        devices.forEach(device -> device.hold(false));

        int result = 0;
        for (int looks = 0; result == 0; looks++) {
            assertThat(looks).isLessThan(LOOKS);
            result = to.oneSided.progress(to.context);
        }
        assertThat(result).isEqualTo(REMOTE_ERROR);
        assertThat(Memory.getLongAcquire(to.signalsAddress + 8)).isEqualTo(1);
    }

    @Test
    void aWindowThatOneRankCannotRegisterIsRefusedByAllAndNobodyWaits() throws Exception {
        SimulatedNet net = new SimulatedNet(7, 90);
        connect(3, net, false, rank -> WINDOW_BYTES);
        long[] ids = new long[3];
        net.refuseMemory(1, 2 << 20);

        onAll(i -> {
            Rank rank = ranks.get(i);
            assertThatThrownBy(() -> rank.oneSided.register(rank.comm, rank.windowAddress, 2 << 20, false, false))
                    .hasMessageContaining(i == 1 ? "no memory may be locked" : "rank 1 cannot register its memory");
            return rank;
        });
        onAll(i -> {
            Rank rank = ranks.get(i);
            ids[i] = rank.oneSided.register(rank.comm, rank.windowAddress, 1 << 20, false, false);
            return rank;
        });

        assertThat(ids).containsOnly(ids[0]);
        Rank rank = ranks.getFirst();
        finish(rank, put(rank, 0, 100, 1, OneSided.INCREMENT));
    }

    @Test
    void memoryOfAGpuIsGivenBackWhenItsCopiesAreOver() throws Exception {
        connect(2, 8, 100, true);
        Rank to = ranks.get(0);
        Rank from = ranks.get(1);
        Memory.putLong(from.windowAddress, 77);
        devices.forEach(device -> device.hold(true));
        for (int i = 0; i < 3; i++) {
            put(to, 0, 8, 1, 0);
            put(from, 0, 600_000, 0, OneSided.INCREMENT);
            progress();
        }

        // SimulatedDevice looks for copies that are not over when it is closed
        to.oneSided.deregister(to.comm, to.window);
        to.oneSided.closeComm(to.comm);
        from.oneSided.closeComm(from.comm);

        assertThat(devices).allMatch(SimulatedDevice::isClosed);
    }

    @Test
    void whoCannotConnectGivesBackWhatItHas() throws Exception {
        SimulatedNet net = new SimulatedNet(9, 100);
        net.refuseMemory(SimulatedNet.ALL, 100_000); // the ring's is less
        long handles = arena.allocate(16, 8).address();
        long[] listeners = listeners(2, net, true, handles);

        onAll(i -> {
            Rank rank = ranks.get(i);
            assertThatThrownBy(() -> rank.comm = rank.oneSided.connect(handles, 2, i, listeners[i], true))
                    .as("rank %d", i)
                    .hasMessageContaining("no memory may be locked");
            return rank;
        });

        assertThat(devices).isNotEmpty().allMatch(SimulatedDevice::isClosed);
    }
}
