package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.verbs.PortState;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.ffm.Libibverbs;

/** What a broken link looks like through the verbs. The guest's own script breaks it; see {@code lab/guest-link}. */
@Timeout(180)
class LinkFaultLabTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final VerbsProvider provider = ((Available) Libibverbs.load()).provider();

    @AfterEach
    void mendTheLink() throws Exception {
        link("up");
        assertThat(provider.ledger().outstanding()).isEmpty();
    }

    @Test
    void failsARequestWhoseAcknowledgementsAreLost() throws Exception {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            link("loss", "100");
            try {
                assertThat(post(link, 1)).isZero();
                assertThat(post(link, 2)).isZero();

                link.a.awaitOne(LIMIT);
                assertThat(link.a.batch.workRequestId(0)).isEqualTo(1);
                assertThat(WorkCompletionStatus.ofCode(link.a.batch.statusCode(0)))
                        .isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
                link.a.awaitOne(LIMIT);
                assertThat(link.a.batch.workRequestId(0)).isEqualTo(2);
                assertThat(WorkCompletionStatus.ofCode(link.a.batch.statusCode(0)))
                        .isEqualTo(WorkCompletionStatus.WR_FLUSHED);
                assertThat(link.a.queuePair.queryState()).isEqualTo(QueuePairStateCode.ERROR);
            } finally {
                link("clear");
            }
        }
    }

    @Test
    void deliversAllDespiteLostPackets() throws Exception {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            link("loss", "10");
            try {
                for (int i = 1; i <= 20; i++) {
                    Memory.putLong(link.a.region.address(), i);
                    assertThat(post(link, i)).isZero();
                    link.a.awaitOne(LIMIT);
                    assertThat(link.a.batch.statusCode(0)).isEqualTo(WorkCompletionStatus.SUCCESS_CODE);
                    assertThat(Memory.getLong(link.b.region.address())).isEqualTo(i);
                }
            } finally {
                link("clear");
            }
        }
    }

    @Test
    void reportsAPortWhoseLinkIsDown() throws Exception {
        try (SoftRoceLink link = new SoftRoceLink(provider)) {
            assertThat(link.a.context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);

            link("down");
            awaitState(link, PortState.DOWN);
            link("up");
            awaitState(link, PortState.ACTIVE);
        }
    }

    private static int post(SoftRoceLink link, long workRequestId) {
        return link.a.queuePair.postWrite(
                workRequestId,
                link.a.region.address(),
                Long.BYTES,
                link.a.region.localKey(),
                link.b.region.address(),
                link.b.region.remoteKey(),
                SendFlag.SIGNALED);
    }

    private static void awaitState(SoftRoceLink link, PortState state) {
        Await.until(
                "rxe_ab is " + state, LIMIT, () -> link.a.context.queryPort(1).state() == state);
    }

    /** Does something to the link at b's end: what b sends, or the interface itself. */
    private static void link(String... what) throws IOException, InterruptedException {
        GuestLink.change("ba", what);
    }
}
