package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import trigon.software.call.Word;
import trigon.software.requester.RequesterState;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Pairs of queue pairs, and messages for them. */
public final class Pairs {

    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private Pairs() {}

    /** What a queue pair does. */
    static QueuePairEngine engine(VerbsEnd end) {
        return ((SoftwareQueuePair) end.queuePair()).engine();
    }

    /** Tells whether a request of the peer waits for a receive. */
    static boolean awaitsReceive(VerbsEnd end) {
        return engine(end).inC().has(Word.AWAITS_RECEIVE);
    }

    /** On which the peer of the first end is silent; of its time limits only. */
    public static void letADayPass(ConnectedPair pair) {
        QueuePairEngine queuePair = engine(pair.first());
        queuePair.lock().locked(() -> RequesterState.letADayPass(queuePair.requester, queuePair.inC()));
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

    /** One message from the first end to the second, of so many bytes. */
    public static void exchange(ConnectedPair pair, int length) {
        try (NativeBuffer from = new NativeBuffer(length).fill((byte) 9);
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            receive(pair, 1, to, target, 0, length);
            send(pair, 1, from, local, 0, length);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.holdsOnly(9)).isTrue();
            local.close();
            target.close();
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
}
