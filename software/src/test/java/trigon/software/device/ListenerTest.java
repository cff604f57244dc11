package trigon.software.device;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.software.responder.InboundConnection;
import trigon.software.wire.Messages;
import trigon.software.wire.Preamble;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.ManualClock;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Clients that are no peers are shown the door, and do no harm to those who are. */
@Timeout(180)
class ListenerTest {

    /** Stands still: whoever is silent stays, until a test lets the time pass. */
    private final ManualClock clock = new ManualClock();

    private final SoftwareVerbs provider = new SoftwareVerbs(List.of(Loopback.A, Loopback.B), Loopback.MOVERS, clock);
    private final VerbsFabric fabric = new VerbsFabric(
            new VerbsFabric.End(provider, "soft_a", 1, 0),
            new VerbsFabric.End(provider, "soft_b", 1, 0),
            Optional.empty());

    @AfterEach
    void close() {
        LedgerAssert.assertNothingOpen(provider);
        provider.close();
    }

    @Test
    void closesGarbage() throws IOException {
        byte[] garbage = new byte[4096];
        new Random(5).nextBytes(garbage);
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT)) {
            assertClosedInTime(pair, garbage);
            assertClosedInTime(pair, "GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n".getBytes(UTF_8));
            assertStillWorks(pair);
        }
    }

    @Test
    void closesTheSilentAndTheSlow() throws IOException {
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT)) {
            assertClosedInTime(pair, new byte[0]);
            assertClosedInTime(pair, new byte[7]);
            assertStillWorks(pair);
        }
    }

    @Test
    void closesPreamblesThatNameNoPeer() throws IOException {
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT)) {
            assertRefused(pair, RawClient.hello(pair, 1, 0));
            assertRefused(pair, RawClient.hello(pair, 0, 1));
            assertStillWorks(pair);
            // right, but the peer has sent requests already
            assertRefused(pair, RawClient.hello(pair, 0, 0));
            assertStillWorks(pair);
        }
    }

    /** Those who say nothing must not keep others out, however long they may be silent. */
    @Test
    void aFloodFromElsewhereKeepsNoPeerOut() throws IOException {
        List<RawClient> flood = new ArrayList<>();
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT)) {
            for (int i = 0; i < UnidentifiedConnections.MAX + 100; i++) {
                flood.add(RawClient.to(pair));
            }
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToSend();

            assertStillWorks(pair);
            assertThat(flood.getFirst().isClosed()).isTrue();
        } finally {
            for (RawClient stranger : flood) {
                stranger.close();
            }
        }
    }

    /** The preamble comes in as many parts as the network likes, and requests right behind it. */
    @Test
    void takesAPreambleByteByByte() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT);
                NativeBuffer request = new NativeBuffer(Messages.REQUEST_BYTES)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.second().queuePair().postReceive(7, 0, 0, 0);
            int psn = pair.first().endpoint().psn();
            Messages.putRequest(request.address(), Messages.SEND, psn, 0, 0, 0, 0);
            try (RawClient slow = RawClient.to(pair)) {
                byte[] preamble = slow.preamble(RawClient.hello(pair, 0, 0), null);
                for (int i = 0; i < preamble.length - 1; i++) {
                    slow.say(new byte[] {preamble[i]});
                }
                byte[] rest = Arrays.copyOf(new byte[] {preamble[preamble.length - 1]}, 1 + request.bytes().length);
                System.arraycopy(request.bytes(), 0, rest, 1, request.bytes().length);
                slow.say(rest);

                assertThat(pair.second().nextReceive().workRequestId()).isEqualTo(7);
                assertThat(slow.isAccepted(null)).isTrue();
            }
        }
    }

    @Test
    void keepsAFewThatWaitForAQueuePairAndTakesThePeer() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT)) {
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            try (RawClient impostor = RawClient.to(pair)) {
                impostor.say(impostor.preamble(RawClient.hello(pair, 0, 1), null));
                pair.first().becomeReadyToSend();
                pair.second().becomeReadyToReceive(pair.first().endpoint());
                pair.second().becomeReadyToSend();

                assertStillWorks(pair);
                assertThat(impostor.isClosed()).isTrue();
            }
        }
    }

    @Test
    void takesTheNextWhenTheFirstEndsWithoutARequest() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            try (RawClient stale = RawClient.to(pair)) {
                stale.say(stale.preamble(RawClient.hello(pair, 0, 0), null));
                pair.first().becomeReadyToReceive(pair.second().endpoint());
                pair.first().becomeReadyToSend();
            }
            assertStillWorks(pair);
        }
    }

    @Test
    void closesAPeerWhoseLastRelayIsSilent() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            try (RawClient relayed = RawClient.to(pair)) {
                Preamble.Hello peer = RawClient.hello(pair, 0, 0);
                Preamble.Hello upgrading = new Preamble.Hello(
                        peer.destinationNumber(), peer.sourceNumber(), peer.firstPsn(), peer.source(), true);
                relayed.say(relayed.preamble(upgrading, null));
                assertThat(relayed.isAccepted(null)).isTrue();
                awaitClosed(relayed);
            }
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();
            assertStillWorks(pair);
        }
    }

    private void assertClosedInTime(ConnectedPair pair, byte[] bytes) throws IOException {
        assertStillWorks(pair); // its own connection is no stranger any more
        try (RawClient stranger = RawClient.to(pair)) {
            stranger.hearGreeting();
            stranger.say(bytes);
            awaitClosed(stranger);
        }
    }

    private void awaitClosed(RawClient client) {
        Await.until("the client is closed", () -> {
            clock.advance(Duration.ofSeconds(InboundConnection.PREAMBLE_SECONDS));
            provider.wakeUp();
            return client.isClosedNow();
        });
    }

    private static void assertRefused(ConnectedPair pair, Preamble.Hello hello) throws IOException {
        try (RawClient stranger = RawClient.to(pair)) {
            stranger.say(stranger.preamble(hello, null));
            assertThat(stranger.isClosed()).isTrue();
        }
    }

    private static void assertStillWorks(ConnectedPair pair) {
        try (NativeBuffer memory = new NativeBuffer(64).fill((byte) 9);
                NativeBuffer target = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            pair.first()
                    .queuePair()
                    .postWrite(
                            1,
                            memory.address(),
                            64,
                            local.localKey(),
                            target.address(),
                            remote.remoteKey(),
                            SendFlag.SIGNALED);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(target.holdsOnly(9)).isTrue();
        }
    }
}
