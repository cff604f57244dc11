package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.MoverSettings;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * SENDs that are complete once the socket has them: not earlier, not later, and what becomes of them with their
 * sender.
 */
@Timeout(300)
class InjectedSendTest {

    /** More than all buffers between two sockets. */
    private static final int LONG = 64 << 20;

    /** And than moves while a few calls are made. */
    private static final int VERY_LONG = 160 << 20;

    /** {@code -Dtrigon.messages=30000} takes more of them. */
    private static final int MESSAGES = Integer.getInteger("trigon.messages", 500);

    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private SoftwareVerbs one = new SoftwareVerbs(List.of(Loopback.A), MoverSettings.NONE);
    private SoftwareVerbs other = new SoftwareVerbs(List.of(Loopback.B), MoverSettings.NONE);

    private ConnectedPair open(QueuePairSettings settings) {
        return ConnectedPair.open(
                new VerbsFabric(
                        new VerbsFabric.End(one, "soft_a", 1, 0),
                        new VerbsFabric.End(other, "soft_b", 1, 0),
                        Optional.empty()),
                settings);
    }

    private void useMovers() {
        close();
        one = new SoftwareVerbs(List.of(Loopback.A), Loopback.MOVERS);
        other = new SoftwareVerbs(List.of(Loopback.B), Loopback.MOVERS);
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
    }

    private static void send(VerbsEnd end, int id, NativeBuffer from, MemoryRegion local, int length) {
        assertThat(end.queuePair().postSendWithImmediate(id, from.address(), length, local.localKey(), id, INJECTED))
                .isZero();
    }

    private static void receive(VerbsEnd end, int id, NativeBuffer to, MemoryRegion target, int length) {
        assertThat(end.queuePair().postReceive(id, to.address(), length, target.localKey()))
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 10_000})
    void isCompleteThoughTheNextIsHeldBack(int length) {
        try (ConnectedPair pair = open(Loopback.PATIENT);
                NativeBuffer from = new NativeBuffer(LONG);
                NativeBuffer to = new NativeBuffer(LONG)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            // behind the first, the others are given to the socket together
            send(pair.first(), 0, from, local, LONG);
            send(pair.first(), 1, from, local, length);
            send(pair.first(), 2, from, local, LONG);
            receive(pair.second(), 0, to, target, LONG);
            receive(pair.second(), 1, to, target, length);
            for (int i = 0; i < 2; i++) {
                int id = i;
                Await.until("message " + i + " is sent and received", () -> {
                    pair.second().hasReceive();
                    return pair.first().hasSend();
                });
                assertThat(pair.first().nextSend().workRequestId()).isEqualTo(id);
            }
            assertThat(pair.second().nextReceive().workRequestId()).isZero();
            assertThat(pair.second().nextReceive().workRequestId()).isEqualTo(1);
            assertThat(pair.first().hasSend()).isFalse();
        }
    }

    @Test
    void isNoSuccessIfTheSocketHasNotTakenAllOfIt() throws InterruptedException {
        for (int round = 0; round < 5; round++) {
            try (ConnectedPair pair = open(Loopback.PATIENT);
                    NativeBuffer from = new NativeBuffer(LONG)) {
                MemoryRegion local = pair.first().register(from);
                send(pair.first(), 1, from, local, LONG);
                assertThat(pair.first().hasSend()).isFalse();
                Thread end = Thread.ofPlatform().start(other::close); // as if its process ended
                Await.until("it ends", () -> hasSendSoon(pair));
                end.join();

                Completion failed = pair.first().nextSend();
                assertThat(failed.workRequestId()).isEqualTo(1);
                assertThat(failed.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
            }
            other = new SoftwareVerbs(List.of(Loopback.B), MoverSettings.NONE);
        }
    }

    /** Looks at every moment. */
    private static boolean hasSendSoon(ConnectedPair pair) {
        for (int i = 0; i < 1000 && !pair.first().hasSend(); i++) {
            Thread.onSpinWait();
        }
        return pair.first().hasSend();
    }

    /** The first message is on its way when the sender goes, and what came after it waits for receives of its own. */
    @ParameterizedTest
    @ValueSource(ints = {10, 20_000})
    void nobodyWaitsForTheRestOfAMessageBecauseALaterOneIsThere(int laterLength) {
        useMovers();
        // a sender may be so fast that it has sent all when it is closed
        Await.until("a message is cut off", () -> isCutOff(laterLength));
    }

    private boolean isCutOff(int laterLength) {
        try (ConnectedPair pair = open(Loopback.PATIENT);
                NativeBuffer from = new NativeBuffer(VERY_LONG);
                NativeBuffer to = new NativeBuffer(VERY_LONG)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            Memory.putByte(from.address(), (byte) 1);
            receive(pair.second(), 100, to, target, VERY_LONG);
            send(pair.first(), 100, from, local, VERY_LONG);
            send(pair.first(), 101, from, local, laterLength);
            Await.until("the first is on its way", () -> {
                pair.second().hasReceive();
                return Memory.getByte(to.address()) == 1;
            });
            pair.first().queuePair().close();

            Await.until("the end is seen", () -> {
                pair.second().hasReceive();
                return pair.second().hasReceive() || !pair.second().queuePair().mayStillReceive();
            });
            return !pair.second().hasReceive();
        }
    }

    /** With as many requests as the queue holds: each is posted as soon as there is a completion. */
    @Test
    void givesItsPlaceInTheQueueBackBeforeItsCompletionIsSeen() {
        useMovers();
        int length = 4096;
        int depth = 2;
        QueuePairSettings like = Loopback.PATIENT;
        QueuePairSettings settings = new QueuePairSettings(
                depth,
                like.completions(),
                like.inlineBytes(),
                like.access(),
                like.psn(),
                like.readAtomic(),
                like.timeout(),
                like.retryCount(),
                like.rnrRetry(),
                like.minRnrTimer(),
                like.key());
        try (ConnectedPair pair = open(settings);
                NativeBuffer from = new NativeBuffer(length);
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            int messages = MESSAGES;
            int outstanding = 0;
            int sent = 0;
            int receives = 0;
            int received = 0;
            while (received < messages) {
                while (outstanding < depth && sent < messages) {
                    send(pair.first(), sent++, from, local, length);
                    outstanding++;
                }
                while (receives - received < depth && receives < messages) {
                    receive(pair.second(), receives++, to, target, length);
                }
                if (pair.first().hasSend()) {
                    pair.first().nextSend();
                    outstanding--;
                }
                if (pair.second().hasReceive()) {
                    assertThat(pair.second().nextReceive().workRequestId()).isEqualTo(received++);
                }
            }
        }
    }
}
