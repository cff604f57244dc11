package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceContext;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/** Asynchronous events as SoftRoCE raises them, through libibverbs. */
@Timeout(120)
class AsyncEventsLabTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final VerbsProvider provider = ((Available) Libibverbs.load()).provider();
    private final List<AsyncEvent> seen = new ArrayList<>();

    @AfterEach
    void mendTheLink() throws Exception {
        GuestLink.change("ba", "up");
        LedgerAssert.assertNothingOpen(provider);
    }

    @Test
    void nothingHasHappenedAndNobodyWaits() {
        try (DeviceContext device = provider.open("rxe_ac")) {
            assertThat(device.pollAsyncEvent()).isEmpty();
            assertThat(device.pollAsyncEvent()).isEmpty();
        }
    }

    @Test
    void aPortSaysThatItsLinkGoesDownAndUp() throws Exception {
        try (DeviceContext device = provider.open("rxe_ab")) {
            assertThat(device.pollAsyncEvent()).isEmpty();

            GuestLink.change("ba", "down");
            awaitEvent(device, new AsyncEvent.OfPort(AsyncEventType.PORT_ERROR, 1));
            GuestLink.change("ba", "up");
            awaitEvent(device, new AsyncEvent.OfPort(AsyncEventType.PORT_ACTIVE, 1));
        }
    }

    /** Closing the queue would wait for ever for an event that was read and not acknowledged. */
    @Test
    void aCompletionQueueThatOverranSaysSoAndCanBeClosed() {
        try (DeviceContext device = provider.open("rxe_ab")) {
            ProtectionDomain domain = device.allocateProtectionDomain();
            CompletionQueue completions = device.createCompletionQueue(1);
            QueuePair queuePair =
                    device.createQueuePair(domain, new QueuePairCapacity(completions, completions, 64, 64, 0));
            try {
                queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.INIT)
                        .pkeyIndex(0)
                        .port(1)
                        .accessFlags(Set.of())
                        .build());
                for (int i = 0; i < 64; i++) {
                    assertThat(queuePair.postReceive(i, 0, 0, 0)).isZero();
                }
                // in the error state all of them are flushed, which is more than the queue has room for
                queuePair.modify(
                        QueuePairAttributes.to(QueuePairStateCode.ERROR).build());

                awaitEvent(
                        device, new AsyncEvent.OfCompletionQueue(AsyncEventType.COMPLETION_QUEUE_ERROR, completions));
            } finally {
                queuePair.close();
                completions.close();
                domain.close();
            }
        }
    }

    private void awaitEvent(DeviceContext device, AsyncEvent wanted) {
        Await.until(() -> "%s, seen so far: %s".formatted(wanted, seen), LIMIT, () -> {
            Optional<AsyncEvent> event = device.pollAsyncEvent();
            event.ifPresent(seen::add);
            return event.equals(Optional.of(wanted));
        });
    }
}
