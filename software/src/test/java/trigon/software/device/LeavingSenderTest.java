package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.software.MoverSettings;
import trigon.software.call.Word;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** What a sender knows to be complete arrives, though the acknowledgements of it come when the sender has gone. */
@Timeout(120)
class LeavingSenderTest {

    private static final int BYTES = 64 << 10;
    private static final int MESSAGES = 40;

    /** After so many in vain the sockets are full, it seems; if they are not, less is tried. */
    private static final int LOOKS = 10_000;

    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;
    private static final int TOLD = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE | SendFlag.DELIVERY_COMPLETE;

    /** No time passes, so what is given up after a while is not. */
    private final SoftwareVerbs one = provider();

    private final SoftwareVerbs other = provider();

    private final NativeBuffer from = new NativeBuffer(BYTES).randomize(new Random(1));
    private final NativeBuffer to = new NativeBuffer(BYTES);

    private static SoftwareVerbs provider() {
        return new SoftwareVerbs(List.of(Loopback.A, Loopback.B), MoverSettings.NONE, new ManualClock());
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
        from.close();
        to.close();
    }

    @Test
    void thatHasClosedItsQueuePair() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            int complete = sendUntilTheSocketsAreFull(pair);

            pair.first().queuePair().close();

            assertThat(received(pair, complete)).isEqualTo(complete);
        }
    }

    @Test
    void whoseProcessHasEnded() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            int complete = sendUntilTheSocketsAreFull(pair);

            one.close(); // its sockets, as the kernel does
            pair.second().queuePair().stopAcknowledging();

            assertThat(received(pair, complete)).isEqualTo(complete);
        }
    }

    /** Nobody has heard of it yet, as it had no reason to say so. */
    @Test
    void whoseProcessHasEndedJustBeforeItsReceiverAsksAgain() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            int complete = sendUntilTheSocketsAreFull(pair);
            Await.until("the first waits for its receive", () -> isWaiting(pair));
            letTwoSecondsPass(pair);

            one.close();

            assertThat(received(pair, complete)).isEqualTo(complete);
        }
    }

    /** Of the time for which the message waits. */
    private static void letTwoSecondsPass(ConnectedPair pair) {
        QueuePairEngine queuePair = Pairs.engine(pair.second());
        long earlier = queuePair.inC().get(Word.WAITING_SINCE) - TimeUnit.SECONDS.toNanos(2);
        queuePair.lock().locked(() -> queuePair.inC().set(Word.WAITING_SINCE, earlier));
    }

    private static boolean isWaiting(ConnectedPair pair) {
        pair.second().hasReceive();
        return Pairs.awaitsReceive(pair.second());
    }

    private int sendUntilTheSocketsAreFull(ConnectedPair pair) {
        MemoryRegion local = pair.first().register(from);
        int complete = 0;
        for (int message = 0; message < MESSAGES; message++) {
            assertThat(pair.first()
                            .queuePair()
                            .postSendWithImmediate(
                                    message,
                                    from.address(),
                                    BYTES,
                                    local.localKey(),
                                    0,
                                    message % 2 == 0 ? INJECTED : TOLD))
                    .isZero();
            for (int look = 0; look < LOOKS && complete > 0 && !pair.first().hasSend(); look++) {
                Thread.onSpinWait();
            }
            if (complete > 0 && !pair.first().hasSend()) {
                break;
            }
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            complete++;
        }
        return complete;
    }

    private int received(ConnectedPair pair, int complete) {
        MemoryRegion target = pair.second().register(to);
        for (int message = 0; message < complete; message++) {
            assertThat(pair.second().queuePair().postReceive(message, to.address(), BYTES, target.localKey()))
                    .isZero();
            while (!pair.second().hasReceive()) {
                if (!pair.second().queuePair().mayStillReceive()
                        && !pair.second().hasReceive()) {
                    return message;
                }
            }
            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
        return complete;
    }
}
