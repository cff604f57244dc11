package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.software.device.Pairs.receive;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import trigon.software.MoverSettings;
import trigon.software.SoftwareDevice;
import trigon.software.wire.Messages;
import trigon.stream.dial.Dialer;
import trigon.system.PortRange;
import trigon.testsupport.AllocationAssert;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** Messages through a relay that changes a bit of one. */
@Timeout(300)
class CheckedCircuitTest {

    private static final int NONE = 0;
    private static final int ALL = 1;
    private static final int SOME = 16;

    private static final int FIRST_BYTES = 8;
    private static final int HEADER = Messages.REQUEST_BYTES;

    /** Where the second message begins: the first one has a tail. */
    private static final int SECOND = HEADER + FIRST_BYTES + Messages.TAIL_BYTES;

    private static final int LENGTH_AT = 20;
    private static final int IMMEDIATE_AT = 24;
    private static final int WHOLE = 64 << 10;
    private static final byte UNTOUCHED = 7;

    /** What the JDK allocates to write from two buffers and to read into two. */
    private static final int JDK_BYTES = 80;

    private final Logger logger = (Logger) LoggerFactory.getLogger("trigon.software");
    private final Queue<String> warnings = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                warnings.add(event.getFormattedMessage());
            }
        }
    };

    private final List<AutoCloseable> open = new ArrayList<>();

    private interface Exchange {
        void run(ConnectedPair pair, ChangingRelay relay);
    }

    @BeforeEach
    void capture() {
        appender.start();
        logger.addAppender(appender);
    }

    @AfterEach
    void close() throws Exception {
        logger.detachAppender(appender);
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private void between(int checks, int piece, MoverSettings movers, Exchange exchange) {
        ChangingRelay relay = new ChangingRelay(piece);
        ChangingRelay back = new ChangingRelay(Loopback.B, ChangingRelay.OTHER_ADDRESS, piece);
        open.add(relay);
        open.add(back);
        SoftwareVerbs one = provider(Loopback.A, movers, relay, checks);
        SoftwareVerbs other = provider(Loopback.B, movers, back, checks);
        try (ConnectedPair pair = Pairs.open(one, other)) {
            exchange.run(pair, relay);
        }
        Loopback.closeUnused(one, other);
    }

    private static SoftwareVerbs provider(
            SoftwareDevice device, MoverSettings movers, ChangingRelay relay, int checks) {
        return new SoftwareVerbs(List.of(device), movers, Dialer.over(relay.routes()), checks, PortRange.ANY);
    }

    /** Two messages, of which that bit of the second one is changed. */
    private void change(int checks, int piece, int length, int at, int bit) {
        between(checks, piece, Loopback.MOVERS, (pair, relay) -> {
            try (NativeBuffer from = new NativeBuffer(FIRST_BYTES + length).randomize(new Random(length));
                    NativeBuffer to = new NativeBuffer(FIRST_BYTES + length + WHOLE).fill(UNTOUCHED)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion target = pair.second().register(to);
                receive(pair, 0, to, target, 0, FIRST_BYTES);
                receive(pair, 1, to, target, FIRST_BYTES, length + WHOLE);
                relay.change(SECOND + at, bit);

                Pairs.send(pair, 0, from, local, 0, FIRST_BYTES);
                Pairs.send(pair, 1, from, local, FIRST_BYTES, length);

                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(to.bytes(0, FIRST_BYTES)).isEqualTo(from.bytes(0, FIRST_BYTES));
                Completion second = pair.second().nextReceive();
                assertThat(second.workRequestId()).isEqualTo(1);
                if (checks == NONE) {
                    assertThat(second.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(to.bytes(FIRST_BYTES, length)).isNotEqualTo(from.bytes(FIRST_BYTES, length));
                    assertThat(warnings).isEmpty();
                } else {
                    assertThat(second.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
                    assertThat(pair.second().queuePair().queryState()).isEqualTo(QueuePairStateCode.ERROR);
                    Await.until("it is told", () -> !warnings.isEmpty());
                    assertThat(warnings)
                            .singleElement()
                            .asString()
                            .contains("soft_b (127.0.12.2/24): a message from 127.0.12.1 was altered")
                            .contains(at < HEADER ? "its header does" : "its payload does")
                            .contains("the relay at " + ChangingRelay.ADDRESS + ", or of one before it;")
                            .contains("This path is closed; the link is up.")
                            .doesNotContain(ChangingRelay.OTHER_ADDRESS);
                    awaitLoss(pair);
                }
                local.close();
                target.close();
            }
        });
    }

    /** The sender hears of it, though its requests were complete. */
    private static void awaitLoss(ConnectedPair pair) {
        Await.until("the sender's connection is broken", () -> {
            pair.first().hasSend();
            return Pairs.engine(pair.first()).isSilentlyBroken()
                    || pair.first().queuePair().queryState() == QueuePairStateCode.ERROR;
        });
    }

    /** Copied, with and without a tail; read in place, by who polls and by a mover; the first, a middle, the last. */
    @ParameterizedTest
    @CsvSource({
        "1,0",
        "40,17",
        "700,699",
        "3000,0",
        "4096,4095",
        "4500,0",
        "4500,4499",
        "20000,12345",
        "2500000,1200000"
    })
    void aChangedPayloadEndsTheQueuePairBeforeItsCompletion(int length, int at) {
        change(SOME, WHOLE, length, HEADER + at, at % 8);
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 4500, 20_000})
    void withoutChecksNobodyWouldSeeIt(int length) {
        change(NONE, WHOLE, length, HEADER + length / 2, 3);
    }

    /** Longer or shorter than what comes, in whichever bit. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 9, 15, 30, 31})
    void aChangedLengthIsNotBelieved(int bit) {
        change(SOME, WHOLE, 1000, LENGTH_AT + bit / 8, bit % 8);
    }

    @Test
    void aChangedImmediateEndsTheQueuePair() {
        change(SOME, WHOLE, 100, IMMEDIATE_AT + 1, 6);
    }

    @Test
    void anyChangedByteOfAHeaderEndsTheQueuePair() throws Exception {
        for (int at = 0; at < HEADER; at++) {
            warnings.clear();
            change(SOME, WHOLE, 50, at, at % 8);
            close();
            open.clear();
            capture();
        }
    }

    @ParameterizedTest
    @CsvSource({"1,0,16", "1,100,16", "7,700,300", "1,5000,4200", "1000,20000,19999"})
    void whatComesInPiecesIsChecked(int piece, int length, int at) {
        change(ALL, piece, length, length == 0 ? at : HEADER + at, 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {NONE, SOME, ALL})
    void whatIsUnchangedArrives(int checks) {
        for (int piece : new int[] {1, 33, WHOLE}) {
            between(checks, piece, Loopback.MOVERS, (pair, _) -> {
                for (int length : new int[] {0, 1, 1000, 1025, 4096, 4097, 30_000, 0}) {
                    Pairs.exchange(pair, length);
                }
            });
        }
        assertThat(warnings).isEmpty();
    }

    @Test
    void someAreTheShortOnesAndEach16thLongerOne() {
        int longBytes = 5000;
        assertThat(payloadChecks(SOME, 4096, 20)).containsOnly(true).hasSize(20);
        List<Boolean> longOnes = payloadChecks(SOME, longBytes, 40);
        for (int i = 0; i < 40; i++) {
            assertThat(longOnes.get(i)).as("message %d", i).isEqualTo(i % 16 == 0);
        }
        assertThat(payloadChecks(ALL, longBytes, 20)).containsOnly(true).hasSize(20);
    }

    /** Of which messages the relay sees that their payload is checked; all their headers are. */
    private List<Boolean> payloadChecks(int checks, int length, int messages) {
        List<Boolean> checked = new ArrayList<>();
        between(checks, WHOLE, MoverSettings.NONE, (pair, relay) -> {
            for (int i = 0; i < messages; i++) {
                Pairs.exchange(pair, length);
            }
            ByteBuffer requests = ByteBuffer.wrap(relay.requests()).order(ByteOrder.LITTLE_ENDIAN);
            for (int at = 0; at < requests.capacity(); at += HEADER + length) {
                int opcode = requests.getInt(at);
                assertThat(opcode & Messages.CHECKED).isNotZero();
                checked.add((opcode & Messages.CHECKED_PAYLOAD) != 0);
            }
        });
        return checked;
    }

    @Test
    void withoutChecksTheHeaderIsAsOverACable() {
        between(NONE, WHOLE, MoverSettings.NONE, (pair, relay) -> {
            Pairs.exchange(pair, 100);
            ByteBuffer header = ByteBuffer.wrap(relay.requests()).order(ByteOrder.LITTLE_ENDIAN);
            assertThat(header.getInt(0) & (Messages.CHECKED | Messages.CHECKED_PAYLOAD))
                    .isZero();
            assertThat(header.getInt(16)).isZero();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 8192})
    void aCheckedMessageAllocatesNothing(int length) {
        between(ALL, WHOLE, MoverSettings.NONE, (pair, relay) -> {
            try (NativeBuffer from = new NativeBuffer(length);
                    NativeBuffer to = new NativeBuffer(length);
                    WorkCompletions batch = new WorkCompletions(1)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion target = pair.second().register(to);
                AllocationAssert.assertAllocationAtMost(
                        () -> {
                            pair.second().queuePair().postReceive(1, to.address(), length, target.localKey());
                            pair.first()
                                    .queuePair()
                                    .postSend(1, from.address(), length, local.localKey(), SendFlag.SIGNALED);
                            while (pair.second().receiveCompletions().poll(batch) == 0) {
                                Thread.onSpinWait();
                            }
                            while (pair.first().sendCompletions().poll(batch) == 0) {
                                Thread.onSpinWait();
                            }
                        },
                        3_000,
                        length > (4 << 10) ? JDK_BYTES : 0);
                assertThat(relay.requests()).isNotEmpty();
                local.close();
                target.close();
            }
        });
    }
}
