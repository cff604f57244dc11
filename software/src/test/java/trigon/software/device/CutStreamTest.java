package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.wire.Messages;
import trigon.software.wire.WireFormat;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.verbs.ConnectionKey;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.WorkCompletionStatus;

/** A stream that ends at any byte: what was whole has come, what was not has not, and its receive is still there. */
@Timeout(300)
class CutStreamTest {

    private static final int FIRST_BYTES = 8;
    private static final int HEADER = Messages.REQUEST_BYTES;
    private static final byte UNTOUCHED = 7;
    private static final ConnectionKey KEY = ConnectionKey.of(new byte[ConnectionKey.BYTES]);

    private final SoftwareVerbs provider = Loopback.provider();

    @AfterEach
    void close() {
        Loopback.closeUnused(provider);
    }

    /** Empty, copied, read in place, and read in place by a mover. */
    @ParameterizedTest
    @ValueSource(ints = {0, 40, 4500, 6000})
    void countsWhatWasWhole(int length) throws IOException {
        int whole = HEADER + length;
        for (int cut = 0; cut <= whole; cut++) {
            boolean isOfInterest = cut <= HEADER + 40 || cut >= whole - 2 || cut % 1000 == 0;
            if (isOfInterest) {
                cutAfter(cut, length);
            }
        }
    }

    private void cutAfter(int cut, int length) throws IOException {
        String where = "%d bytes of a message of %d".formatted(cut, length);
        try (NativeBuffer to = new NativeBuffer(FIRST_BYTES + length + 1).fill(UNTOUCHED);
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(cut));
                ConnectedPair pair = ConnectedPair.create(Loopback.fabric(provider), Loopback.PATIENT.withKey(KEY))) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            MemoryRegion target = pair.second().register(to);
            Pairs.receive(pair, 0, to, target, 0, FIRST_BYTES);
            Pairs.receive(pair, 1, to, target, FIRST_BYTES, length + 1);
            try (RawClient client = RawClient.to(pair)) {
                client.say(client.preamble(RawClient.hello(pair, 0, 0), KEY));
                assertThat(client.isAccepted(KEY)).isTrue();
                client.say(message(pair, 0, new byte[FIRST_BYTES]));
                client.say(Arrays.copyOf(message(pair, 1, from.bytes()), cut));
            }

            assertThat(pair.second().nextReceive().workRequestId()).isZero();
            Await.until("the end of " + where, () -> {
                boolean received = pair.second().hasReceive();
                return received || !pair.second().queuePair().mayStillReceive();
            });
            pair.second()
                    .queuePair()
                    .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());

            Completion second = pair.second().nextReceive();
            boolean isWhole = cut == HEADER + length;
            assertThat(second.status())
                    .as(where)
                    .isEqualTo(isWhole ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.WR_FLUSHED);
            int come = Math.max(0, cut - HEADER);
            assertThat(to.bytes(FIRST_BYTES + come, length + 1 - come)).containsOnly(UNTOUCHED);
            if (isWhole) {
                assertThat(to.bytes(FIRST_BYTES, length)).isEqualTo(from.bytes());
            }
            target.close();
        }
    }

    /** As a queue pair's requester would send it. */
    private static byte[] message(ConnectedPair pair, int number, byte[] payload) {
        try (NativeBuffer header = new NativeBuffer(HEADER)) {
            int psn = (pair.first().endpoint().psn() + number) & WireFormat.PSN_MASK;
            Messages.putRequest(
                    header.address(),
                    Messages.SEND_WITH_IMMEDIATE | Messages.UNANSWERED,
                    psn,
                    payload.length,
                    0,
                    0,
                    number);
            byte[] message = Arrays.copyOf(header.bytes(), HEADER + payload.length);
            System.arraycopy(payload, 0, message, HEADER, payload.length);
            return message;
        }
    }
}
