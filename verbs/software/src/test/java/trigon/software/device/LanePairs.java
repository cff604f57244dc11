package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import trigon.software.LaneSettings;
import trigon.software.connection.LocalQueuePair;
import trigon.software.lanes.LaneWorkers;
import trigon.software.requester.RequesterState;
import trigon.system.NanoClock;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Pairs of queue pairs with lanes, and messages for them. */
public final class LanePairs {

    public static final int FROM_BYTES = 2048;
    public static final int LONG = 4 << 20;

    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private LanePairs() {}

    public static SoftwareVerbs provider(int workers, int others) {
        return provider(workers(workers, others));
    }

    /** The devices whose lanes these workers serve. */
    public static SoftwareVerbs provider(LaneWorkers workers) {
        return new SoftwareVerbs(List.of(Loopback.A, Loopback.B), workers, NanoClock.SYSTEM);
    }

    /** The first end's queue pair, as its lanes see it. */
    public static LocalQueuePair sender(ConnectedPair pair) {
        return ((SoftwareQueuePair) pair.first().queuePair()).engine();
    }

    /** Whether long messages of the first end go in pieces by now. */
    public static boolean hasLanes(ConnectedPair pair) {
        return RequesterState.hasLanes(((SoftwareQueuePair) pair.first().queuePair()).engine().requester);
    }

    /** On which the peer of the first end is silent; of its time limits only. */
    public static void letADayPass(ConnectedPair pair) {
        LocalQueuePair queuePair = sender(pair);
        queuePair
                .lock()
                .locked(() -> RequesterState.letADayPass(
                        ((SoftwareQueuePair) pair.first().queuePair()).engine().requester));
    }

    /** How many messages of the first end are on their way on lanes. */
    public static int onLanes(ConnectedPair pair) {
        return RequesterState.onLanes(((SoftwareQueuePair) pair.first().queuePair()).engine().requester);
    }

    public static LaneWorkers workers(int workers, int others) {
        LaneSettings lanes = new LaneSettings(
                new LaneSettings.Workers(workers, Duration.ofNanos(20_000)),
                new LaneSettings.Workers(others, Duration.ofNanos(1000)),
                3,
                new LaneSettings.Cut(FROM_BYTES, FROM_BYTES / 2, FROM_BYTES / 2, Integer.MAX_VALUE));
        return new LaneWorkers(lanes);
    }

    public static ConnectedPair open(SoftwareVerbs sender, SoftwareVerbs receiver) {
        return open(sender, receiver, Loopback.PATIENT);
    }

    public static ConnectedPair open(SoftwareVerbs sender, SoftwareVerbs receiver, QueuePairSettings settings) {
        return ConnectedPair.open(fabric(sender, receiver), settings);
    }

    /** Whose ends are in RESET. */
    public static ConnectedPair create(SoftwareVerbs sender, SoftwareVerbs receiver) {
        return ConnectedPair.create(fabric(sender, receiver), Loopback.PATIENT);
    }

    private static VerbsFabric fabric(SoftwareVerbs sender, SoftwareVerbs receiver) {
        return new VerbsFabric(
                new VerbsFabric.End(sender, "soft_a", 1, 0),
                new VerbsFabric.End(receiver, "soft_b", 1, 0),
                Optional.empty());
    }

    /** Sends messages that are long enough until they go in pieces. */
    public static void openLanes(ConnectedPair pair) {
        try (NativeBuffer from = new NativeBuffer(FROM_BYTES);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            Await.until("lanes", () -> {
                receive(pair, 0, to, remote, 0, FROM_BYTES);
                send(pair, 0, from, local, 0, FROM_BYTES);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                return hasLanes(pair);
            });
            local.close();
            remote.close();
        }
    }

    public static void send(ConnectedPair pair, int id, NativeBuffer from, MemoryRegion local, int offset, int length) {
        assertThat(pair.first()
                        .queuePair()
                        .postSendWithImmediate(id, from.at(offset), length, local.localKey(), ~id, INJECTED))
                .isZero();
    }

    public static void receive(
            ConnectedPair pair, int id, NativeBuffer to, MemoryRegion target, int offset, int length) {
        assertThat(pair.second().queuePair().postReceive(id, to.at(offset), length, target.localKey()))
                .isZero();
    }

    /** So many messages at once, all of the same bytes and into the same ones. */
    public static void start(
            ConnectedPair pair,
            int messages,
            NativeBuffer from,
            MemoryRegion local,
            NativeBuffer to,
            MemoryRegion remote,
            int length) {
        for (int i = 0; i < messages; i++) {
            receive(pair, i, to, remote, 0, length);
        }
        for (int i = 0; i < messages; i++) {
            send(pair, i, from, local, 0, length);
        }
    }

    /** A message of no memory. */
    public static void sendNothing(ConnectedPair pair, int id) {
        assertThat(pair.first().queuePair().postSendWithImmediate(id, 0, 0, 0, ~id, INJECTED))
                .isZero();
    }
}
