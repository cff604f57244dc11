package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.ConnectionKey;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * Queue pairs that were given a key talk to who knows it alone. The strangers here know everything else: numbers, PSN,
 * GIDs, and whatever was said before.
 */
@Timeout(180)
class ConnectionKeyTest {

    private static final ConnectionKey KEY = key(1);
    private static final ConnectionKey ANOTHER = key(2);
    private static final QueuePairSettings WITH_KEY = Loopback.PATIENT.withKey(KEY);
    private static final int LONG = 64 << 10;

    private final SoftwareVerbs provider = Loopback.provider();
    private final VerbsFabric.End placeOfFirst = new VerbsFabric.End(provider, "soft_a", 1, 0);
    private final VerbsFabric.End placeOfSecond = new VerbsFabric.End(provider, "soft_b", 1, 0);
    private final VerbsFabric fabric = new VerbsFabric(placeOfFirst, placeOfSecond, Optional.empty());

    private final Logger root = (Logger) LoggerFactory.getLogger("trigon.software");
    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> capture = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.INFO)) {
                log.add(event.getFormattedMessage());
            }
        }
    };

    private static ConnectionKey key(int first) {
        byte[] bytes = new byte[ConnectionKey.BYTES];
        bytes[0] = (byte) first;
        return ConnectionKey.of(bytes);
    }

    @BeforeEach
    void listen() {
        root.setLevel(Level.INFO);
        capture.start();
        root.addAppender(capture);
    }

    @AfterEach
    void close() {
        root.detachAppender(capture);
        root.setLevel(null);
        LedgerAssert.assertNothingOpen(provider);
        provider.close();
    }

    @Test
    void peersWithTheKeyTalk() {
        try (ConnectedPair pair = ConnectedPair.open(fabric, WITH_KEY)) {
            assertWorks(pair);
        }
    }

    @Test
    void whoLacksTheKeyIsRefusedAndThePeerIsTaken() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, WITH_KEY)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            assertRefused(pair, null);
            assertRefused(pair, ANOTHER);
            assertThat(log).anyMatch(line -> line.contains("does not know the key of the connection of qp"));

            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToSend();
            assertWorks(pair);
        }
        assertThat(String.join("\n", log)).doesNotContain("defect");
    }

    /** They come before the queue pair knows its peer, and have to wait. */
    @Test
    void whoWaitsWithoutTheKeyIsRefusedLater() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, WITH_KEY);
                RawClient stranger = RawClient.to(pair)) {
            stranger.say(stranger.preamble(RawClient.hello(pair, 0, 0), ANOTHER));
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.second().becomeReadyToSend();

            assertWorks(pair);
            assertThat(stranger.isClosed()).isTrue();
        }
    }

    /** More of them than may wait, from elsewhere, before the queue pair knows its peer. */
    @Test
    void manyThatWaitWithoutTheKeyKeepNoPeerOut() throws IOException {
        List<RawClient> strangers = new ArrayList<>();
        try (ConnectedPair pair = ConnectedPair.create(fabric, WITH_KEY)) {
            for (int i = 0; i < 12; i++) {
                RawClient stranger = RawClient.to(pair);
                strangers.add(stranger);
                stranger.say(stranger.preamble(RawClient.hello(pair, 0, 0), ANOTHER));
            }
            Await.until("4 too many are closed", () -> closedNow(strangers) == 4);
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();
            Await.until("another one goes for the peer", () -> closedNow(strangers) == 5);
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.second().becomeReadyToSend();

            assertWorks(pair);
            for (RawClient stranger : strangers) {
                assertThat(stranger.isClosed()).isTrue();
            }
        } finally {
            for (RawClient stranger : strangers) {
                stranger.close();
            }
        }
    }

    @Test
    void aRecordedPreambleIsRefused() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, WITH_KEY)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            byte[] recorded;
            try (RawClient peer = RawClient.to(pair)) {
                recorded = peer.preamble(RawClient.hello(pair, 0, 0), KEY);
                peer.say(recorded);
                assertThat(peer.isAccepted(KEY)).isTrue();
            }
            try (RawClient repeats = RawClient.to(pair)) {
                repeats.say(recorded);
                assertThat(repeats.isClosed()).isTrue();
            }
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToSend();
            assertWorks(pair);
        }
    }

    /** Who has taken the peer's address and port learns who wanted to connect, and no more. */
    @Test
    void nothingIsSentToWhoDoesNotKnowTheKey() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, WITH_KEY);
                ServerSocket impostor = new ServerSocket(0, 8, Loopback.B.address())) {
            QueuePairEndpoint second = pair.second().endpoint();
            pair.first()
                    .becomeReadyToReceive(new QueuePairEndpoint(
                            second.number(), second.psn(), second.gid(), impostor.getLocalPort(), second.mtu()));
            pair.first().becomeReadyToSend();
            try (Socket victim = impostor.accept();
                    NativeBuffer memory = new NativeBuffer(64)) {
                victim.setSoTimeout((int) Await.DEADLINE.toMillis());
                MemoryRegion local = pair.first().register(memory);
                pair.first().queuePair().postSend(1, memory.address(), 64, local.localKey(), SendFlag.SIGNALED);
                ByteBuffer said = new PreambleExchange().greet();
                byte[] greeting = new byte[said.remaining()];
                said.get(greeting);
                victim.getOutputStream().write(greeting);
                InputStream in = victim.getInputStream();
                assertThat(in.readNBytes(WireFormat.PREAMBLE_BYTES)).hasSize(WireFormat.PREAMBLE_BYTES);
                victim.getOutputStream().write(new byte[WireFormat.ACCEPTANCE_BYTES]);

                assertThat(in.read()).isNegative();
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
            }
        }
        assertThat(log).anyMatch(line -> line.contains("its key is wrong"));
    }

    @Test
    void endsWithDifferentKeysOrOnlyOneFail() {
        assertFails(WITH_KEY, Loopback.PATIENT.withKey(ANOTHER));
        assertFails(WITH_KEY, Loopback.PATIENT);
        assertFails(Loopback.PATIENT, WITH_KEY);
        assertThat(log).anyMatch(line -> line.contains("it has a key for the connection of qp"));
    }

    private static long closedNow(List<RawClient> strangers) {
        return strangers.stream().filter(RawClient::isClosedNow).count();
    }

    private void assertFails(QueuePairSettings one, QueuePairSettings other) {
        try (VerbsEnd first = new VerbsEnd(placeOfFirst, one);
                VerbsEnd second = new VerbsEnd(placeOfSecond, other);
                NativeBuffer memory = new NativeBuffer(64)) {
            second.becomeReadyToReceive(first.endpoint());
            first.becomeReadyToReceive(second.endpoint());
            first.becomeReadyToSend();
            MemoryRegion local = first.register(memory);
            first.queuePair().postSend(1, memory.address(), 64, local.localKey(), SendFlag.SIGNALED);
            assertThat(first.nextSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
        }
    }

    private static void assertRefused(ConnectedPair pair, @Nullable ConnectionKey key) throws IOException {
        try (RawClient stranger = RawClient.to(pair)) {
            stranger.say(stranger.preamble(RawClient.hello(pair, 0, 0), key));
            assertThat(stranger.isClosed()).isTrue();
        }
    }

    private static void assertWorks(ConnectedPair pair) {
        Pairs.exchange(pair, LONG);
    }
}
