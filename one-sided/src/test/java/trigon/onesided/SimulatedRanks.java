package trigon.onesided;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import trigon.nccl.NetPlugin;
import trigon.onesided.group.Traffic;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.system.Memory;
import trigon.testsupport.Await;

/** Ranks over a simulated transport, all moved by one thread once they are connected. What is opened is closed. */
abstract class SimulatedRanks {

    static final int WINDOW_BYTES = 4 << 20;
    static final int SIGNALS_BYTES = 64;
    static final int LOOKS = 5_000_000;

    final Arena arena = Arena.ofShared();
    final ExecutorService threads = Executors.newCachedThreadPool();
    final List<Rank> ranks = new ArrayList<>();

    /** All that were asked for. */
    final List<SimulatedDevice> devices = new ArrayList<>();

    /** A rank with its own plugin and windows, all in this process. */
    static final class Rank {
        final OneSided oneSided;
        long comm;
        long context;
        long windowAddress;
        long signalsAddress;
        long window;
        long signals;

        Rank(OneSided oneSided) {
            this.oneSided = oneSided;
        }

        /** The data path of its first context. */
        Traffic traffic() {
            return traffic(0);
        }

        /** The data path of one of its contexts. */
        Traffic traffic(int number) {
            return Objects.requireNonNull(oneSided.traffic(context, number));
        }

        /** Adds to a signal of a rank's, and copies nothing. */
        long signal(int to, long signalOffset, long signal, long addend, int operation) {
            Traffic traffic = traffic(1);
            Transfer put = traffic.transfer().copy(0, 0, 0, 0, 0).signal(signalOffset, signal, addend, operation);
            return traffic.put(put, to);
        }

        /** Asks a rank for bytes of its window. */
        long get(long remoteOffset, long bytes, long localOffset, int from) {
            return traffic().get(traffic().transfer().copy(remoteOffset, window, bytes, localOffset, window), from);
        }
    }

    @AfterEach
    void close() {
        ranks.forEach(rank -> rank.oneSided.closeComm(rank.comm));
        threads.shutdownNow();
        arena.close();
    }

    final void connect(int count, long seed, int percentThatMove, boolean onDevice) throws Exception {
        connect(count, new SimulatedNet(seed, percentThatMove), onDevice, rank -> WINDOW_BYTES);
    }

    final void connect(int count, SimulatedNet net, boolean onDevice, IntUnaryOperator windowBytes) throws Exception {
        long handles = arena.allocate(8L * count, 8).address();
        long[] listeners = listeners(count, net, onDevice, handles);
        long apart = onDevice ? SimulatedDevice.APART : 0;
        onAll(i -> {
            Rank rank = ranks.get(i);
            rank.comm = rank.oneSided.connect(handles, count, i, listeners[i], false);
            rank.oneSided.closeListen(listeners[i]);
            rank.signalsAddress = arena.allocate(SIGNALS_BYTES, 8).address();
            rank.signals =
                    rank.oneSided.register(rank.comm, rank.signalsAddress + apart, SIGNALS_BYTES, onDevice, true);
            rank.context = rank.oneSided.createContext(rank.comm, 2, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            rank.windowAddress = arena.allocate(WINDOW_BYTES, 4096).address();
            rank.window = rank.oneSided.register(
                    rank.comm, rank.windowAddress + apart, windowBytes.applyAsInt(i), onDevice, false);
            return rank;
        });
    }

    /** Ranks that wait for each other; their handles' addresses go to an address. */
    final long[] listeners(int count, SimulatedNet net, boolean onDevice, long handles) {
        long[] listeners = new long[count];
        for (int i = 0; i < count; i++) {
            long seed = i;
            Rank rank = new Rank(new OneSided(
                    net.of(i), () -> onDevice ? device(seed) : GpuMemory.NONE, System::nanoTime, Await.DEADLINE));
            ranks.add(rank);
            long handle = arena.allocate(NetPlugin.HANDLE_BYTES, 8).address();
            Memory.putLong(handles + 8L * i, handle);
            listeners[i] = rank.oneSided.listen(rank.oneSided.openContext(1), 0, handle);
        }
        return listeners;
    }

    private SimulatedDevice device(long seed) {
        SimulatedDevice device = new SimulatedDevice(seed);
        synchronized (devices) {
            devices.add(device);
        }
        return device;
    }

    final void onAll(IntFunction<Object> step) throws Exception {
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < ranks.size(); i++) {
            int rank = i;
            done.add(threads.submit(() -> step.apply(rank)));
        }
        for (Future<?> each : done) {
            each.get(2 * Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    final void progress() {
        for (Rank rank : ranks) {
            assertThat(rank.oneSided.progress(rank.context)).isZero();
        }
    }

    final void finish(Rank rank, long request) {
        assertThat(request).as("a request").isPositive();
        int done = 0;
        for (int looks = 0; done == 0; looks++) {
            assertThat(looks).as("looks").isLessThan(LOOKS);
            done = rank.oneSided.test(rank.comm, request);
            progress();
        }
        assertThat(done).isOne();
    }

    final void await(Rank rank, long signal, long value) {
        for (int looks = 0; Memory.getLongAcquire(rank.signalsAddress + 8 * signal) != value; looks++) {
            assertThat(looks).as("looks for signal %d", value).isLessThan(LOOKS);
            progress();
        }
    }

    static long put(Rank from, long offset, long bytes, int to, int operation) {
        Transfer put = from.traffic()
                .transfer()
                .copy(offset, from.window, bytes, offset, from.window)
                .signal(8, operation == 0 ? 0 : from.signals, 3, operation);
        return from.traffic().put(put, to);
    }
}
