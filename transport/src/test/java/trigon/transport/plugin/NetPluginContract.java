package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.request.RequestRow;
import trigon.transport.testsupport.Connected;
import trigon.verbs.ResourceLedger;

/**
 * What NCCL may expect of the plugin, over links of any kind: two nodes, a and b, in one process. A subclass says what
 * links they have.
 */
@Timeout(120)
public abstract class NetPluginContract extends NetPluginFailureContract {

    /** The longest message to be tried, in bytes; as long as the links bear in reasonable time. */
    protected abstract int longestMessage();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 127, 4096, 65_537, 3_000_001})
    void carriesAMessageAndItsRealSize(int size) {
        Connected ab = new Connected(a, b);
        long from = a.allocate(size + 1);
        long to = b.allocate(size + 65);
        Random random = new Random(size);
        for (int i = 0; i < size; i++) {
            Memory.putByte(from + i, (byte) random.nextInt());
        }
        Memory.putByte(to + size, (byte) 0x5A);
        long fromHandle = a.register(ab.sendComm, from, size + 1);
        long toHandle = b.register(ab.receiveComm, to, size + 65);

        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, size + 64, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, size, TAG, fromHandle));

        assertThat(finish(a, send)).isEqualTo(size);
        assertThat(finish(b, receive)).isEqualTo(size);
        assertThat(Memory.segment(to, size).mismatch(Memory.segment(from, size)))
                .isEqualTo(-1);
        assertThat(Memory.getByte(to + size)).isEqualTo((byte) 0x5A);
    }

    @Test
    void aConnectionHasItsQueuePairsAndNoMore() {
        int before = a.verbs().ledger().count(ResourceLedger.Kind.QUEUE_PAIR);

        new Connected(a, b);

        // devices of one library are counted together
        int ends = a.verbs().ledger().equals(b.verbs().ledger()) ? 2 : 1;
        assertThat(a.verbs().ledger().count(ResourceLedger.Kind.QUEUE_PAIR) - before)
                .isEqualTo(ends * queuePairs());
    }

    @Test
    void isOpenToTheLibraryOverOnePathThatItReaches() {
        boolean open = queuePairs() == 1;
        Connected ab = new Connected(a, b);

        assertThat(a.isOpenToLibrary(ab.sendComm)).isEqualTo(open);
        assertThat(b.isOpenToLibrary(ab.receiveComm)).isEqualTo(open);
    }

    /** NCCL may have a receiver's thread do something else for as long as it likes. */
    @Test
    void aSenderWaitsForNoFurtherCallOfTheReceivers() {
        int messages = RequestRow.REQUESTS;
        Connected ab = new Connected(a, b);
        long from = a.allocate(8L * messages);
        long to = b.allocate(8L * messages);
        long fromHandle = a.register(ab.sendComm, from, 8L * messages);
        long toHandle = b.register(ab.receiveComm, to, 8L * messages);
        long[] receives = new long[messages];
        for (int i = 0; i < messages; i++) {
            Memory.putLong(from + 8L * i, 1000 + i);
            receives[i] = b.plugin.irecv(ab.receiveComm, to + 8L * i, 8, TAG, toHandle);
            assertThat(receives[i]).isPositive();
        }

        for (int i = 0; i < messages; i++) {
            long address = from + 8L * i;
            long send = retry(() -> a.plugin.isend(ab.sendComm, address, 8, TAG, fromHandle));
            assertThat(finish(a, send)).isEqualTo(8);
        }

        for (int i = 0; i < messages; i++) {
            assertThat(finish(b, receives[i])).isEqualTo(8);
            assertThat(Memory.getLong(to + 8L * i)).isEqualTo(1000 + i);
        }
    }

    @Test
    @Tag("long")
    void carriesTheLongestMessage() {
        int size = longestMessage();
        Connected ab = new Connected(a, b);
        long from = a.allocate(size);
        long to = b.allocate(size);
        for (long i = 0; i < size; i += 4096) {
            Memory.putLong(from + i, i * 0x9E3779B97F4A7C15L);
        }
        long fromHandle = a.register(ab.sendComm, from, size);
        long toHandle = b.register(ab.receiveComm, to, size);

        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, size, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, size, TAG, fromHandle));

        assertThat(finish(a, send)).isEqualTo(size);
        assertThat(finish(b, receive)).isEqualTo(size);
        assertThat(Memory.segment(to, size).mismatch(Memory.segment(from, size)))
                .isEqualTo(-1);
    }

    @Test
    void keepsTheOrderOfManyOutstandingMessages() {
        Connected ab = new Connected(a, b);
        int count = 1000;
        long from = a.allocate(8L * count);
        long to = b.allocate(8L * count);
        for (int i = 0; i < count; i++) {
            Memory.putLong(from + 8L * i, i + 1);
        }
        long fromHandle = a.register(ab.sendComm, from, 8L * count);
        long toHandle = b.register(ab.receiveComm, to, 8L * count);
        Deque<Long> sends = new ArrayDeque<>();
        Deque<Long> receives = new ArrayDeque<>();
        int[] sent = {0};
        int[] received = {0};
        int[] done = {0};
        Await.until("all messages", () -> {
            if (received[0] < count) {
                long request = b.plugin.irecv(ab.receiveComm, to + 8L * received[0], 8, TAG, toHandle);
                assertThat(request).isNotNegative();
                if (request != NetPlugin.TRY_AGAIN) {
                    receives.add(request);
                    received[0]++;
                }
            }
            if (sent[0] < count) {
                long request = a.plugin.isend(ab.sendComm, from + 8L * sent[0], 8, TAG, fromHandle);
                assertThat(request).isNotNegative();
                if (request != NetPlugin.TRY_AGAIN) {
                    sends.add(request);
                    sent[0]++;
                }
            }
            if (!sends.isEmpty() && a.plugin.test(sends.element()) == 8) {
                sends.remove();
            }
            if (!receives.isEmpty() && b.plugin.test(receives.element()) == 8) {
                receives.remove();
                done[0]++;
            }
            return done[0] == count;
        });
        assertThat(Memory.segment(to, 8L * count).mismatch(Memory.segment(from, 8L * count)))
                .isEqualTo(-1);
    }

    @Test
    void aMessageBeforeItsReceiveWaitsAndKeepsTheOrder() {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8 * 40);
        long to = b.allocate(8 * 40);
        long fromHandle = a.register(ab.sendComm, from, 8 * 40);
        long toHandle = b.register(ab.receiveComm, to, 8 * 40);
        int sent = 0;
        if (isRendezvous()) {
            for (int i = 0; i < 100; i++) {
                assertThat(a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle))
                        .isEqualTo(NetPlugin.TRY_AGAIN);
            }
        } else {
            for (; sent < 40; sent++) {
                Memory.putLong(from + 8L * sent, ~sent);
                int offset = 8 * sent;
                long send = retry(() -> a.plugin.isend(ab.sendComm, from + offset, 8, TAG, fromHandle));
                assertThat(finish(a, send)).isEqualTo(8);
            }
            Memory.fill(from, 8 * 40, (byte) 0);
        }
        for (int i = 0; i < 40; i++) {
            int offset = 8 * i;
            long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to + offset, 8, TAG, toHandle));
            if (i >= sent) {
                Memory.putLong(from + offset, ~i);
                long send = retry(() -> a.plugin.isend(ab.sendComm, from + offset, 8, TAG, fromHandle));
                assertThat(finish(a, send)).isEqualTo(8);
            }
            assertThat(finish(b, receive)).isEqualTo(8);
            assertThat(Memory.getLong(to + offset)).isEqualTo(~i);
        }
    }

    @Test
    void takes32SendsAndThenAsksForPatience() {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(ab.sendComm, from, 8);
        long toHandle = b.register(ab.receiveComm, to, 8);

        for (int i = 0; i < 32; i++) {
            retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
            retry(() -> a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle));
        }
        assertThat(a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle)).isEqualTo(NetPlugin.TRY_AGAIN);
    }

    @Test
    void takes32ReceivesAndThenAsksForPatience() {
        Connected ab = new Connected(a, b);
        long to = b.allocate(8);
        long toHandle = b.register(ab.receiveComm, to, 8);

        for (int i = 0; i < 32; i++) {
            assertThat(b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle)).isPositive();
        }
        assertThat(b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle)).isEqualTo(NetPlugin.TRY_AGAIN);
    }

    @Test
    void aReceiveIsDoneOnlyWhenItsMessageHasCome() {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8 * 100);
        long to = b.allocate(8 * 100);
        long fromHandle = a.register(ab.sendComm, from, 8 * 100);
        long toHandle = b.register(ab.receiveComm, to, 8 * 100);

        Queue<Long> receives = new ArrayDeque<>();
        for (int i = 0; i < 32; i++) {
            int offset = 8 * i;
            long receive = b.plugin.irecv(ab.receiveComm, to + offset, 8, TAG, toHandle);
            assertThat(receive).isPositive();
            assertThat(b.plugin.test(receive)).isEqualTo(NetPlugin.NOT_DONE);
            receives.add(receive);
        }
        assertThat(b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle)).isEqualTo(NetPlugin.TRY_AGAIN);
        for (int i = 0; i < 100; i++) {
            int offset = 8 * i;
            Memory.putLong(from + offset, i + 1);
            long send = retry(() -> a.plugin.isend(ab.sendComm, from + offset, 8, TAG, fromHandle));
            assertThat(finish(a, send)).isEqualTo(8);
            assertThat(finish(b, receives.remove())).isEqualTo(8);
            assertThat(Memory.getLong(to + offset)).isEqualTo(i + 1);
            if (i < 68) {
                int next = 8 * (i + 32);
                receives.add(retry(() -> b.plugin.irecv(ab.receiveComm, to + next, 8, TAG, toHandle)));
            }
        }
    }
}
