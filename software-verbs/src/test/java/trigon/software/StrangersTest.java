package trigon.software;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.ConnectedPair;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.QueuePairSettings;
import trigon.testsupport.VerbsEnd;
import trigon.testsupport.VerbsFabric;
import trigon.verbs.Gid;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Clients that are no peers are shown the door, and do no harm to those who are. */
@Timeout(60)
class StrangersTest {

    private static final int SHORT_MILLIS = 200;

    private final SoftwareVerbs provider =
            new SoftwareVerbs(List.of(Loopback.A, Loopback.B), Loopback.LANES, SHORT_MILLIS);
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
        try (ConnectedPair pair = ConnectedPair.open(fabric)) {
            assertClosed(pair.second(), garbage);
            assertClosed(pair.second(), "GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n".getBytes(UTF_8));
            assertStillWorks(pair);
        }
    }

    @Test
    void closesTheSilentAndTheSlow() throws IOException {
        try (ConnectedPair pair = ConnectedPair.open(fabric)) {
            assertClosed(pair.second(), new byte[0]);
            assertClosed(pair.second(), preamble(pair, 0, 0, 7));
            assertStillWorks(pair);
        }
    }

    @Test
    void closesPreamblesThatNameNoPeer() throws IOException {
        try (ConnectedPair pair = ConnectedPair.open(fabric)) {
            assertClosed(pair.second(), preamble(pair, 1, 0, WireFormat.PREAMBLE_BYTES));
            assertClosed(pair.second(), preamble(pair, 0, 1, WireFormat.PREAMBLE_BYTES));
            assertStillWorks(pair);
            // right, but the peer has sent requests already
            assertClosed(pair.second(), preamble(pair, 0, 0, WireFormat.PREAMBLE_BYTES));
            assertStillWorks(pair);
        }
    }

    /** Those who say nothing must not keep others out, however long they may be silent. */
    @Test
    void aFloodFromElsewhereKeepsNoPeerOut() throws IOException {
        SoftwareVerbs patient = new SoftwareVerbs(List.of(Loopback.A, Loopback.B), Loopback.LANES, 600_000);
        VerbsFabric there = new VerbsFabric(
                new VerbsFabric.End(provider, "soft_a", 1, 0),
                new VerbsFabric.End(patient, "soft_b", 1, 0),
                Optional.empty());
        List<Socket> flood = new ArrayList<>();
        try (ConnectedPair pair = ConnectedPair.create(there, QueuePairSettings.DEFAULT)) {
            for (int i = 0; i < Strangers.MOST + 100; i++) {
                flood.add(socket(pair.second()));
            }
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToSend();

            assertStillWorks(pair);
            assertThat(ends(flood.getFirst().getInputStream())).isTrue();
        } finally {
            for (Socket socket : flood) {
                socket.close();
            }
        }
        LedgerAssert.assertNothingOpen(patient);
        patient.close();
    }

    /** The preamble comes in as many parts as the network likes, and requests right behind it. */
    @Test
    void takesAPreambleByteByByte() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, QueuePairSettings.DEFAULT);
                NativeBuffer request = new NativeBuffer(WireFormat.REQUEST_BYTES)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.second().queuePair().postReceive(7, 0, 0, 0);
            int psn = pair.first().endpoint().psn();
            WireFormat.putRequest(request.address(), WireFormat.SEND, psn, 0, 0, 0, 0);
            try (Socket slow = socket(pair.second())) {
                slow.setTcpNoDelay(true);
                byte[] preamble = preamble(pair, 0, 0, WireFormat.PREAMBLE_BYTES);
                for (int i = 0; i < preamble.length - 1; i++) {
                    slow.getOutputStream().write(preamble[i]);
                }
                byte[] rest = Arrays.copyOf(new byte[] {preamble[preamble.length - 1]}, 1 + request.bytes().length);
                System.arraycopy(request.bytes(), 0, rest, 1, request.bytes().length);
                slow.getOutputStream().write(rest);

                assertThat(pair.second().nextReceive().workRequestId()).isEqualTo(7);
            }
        }
    }

    @Test
    void keepsAFewThatWaitForAQueuePairAndTakesThePeer() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, QueuePairSettings.DEFAULT)) {
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            try (Socket impostor = socket(pair.second())) {
                impostor.getOutputStream().write(preamble(pair, 0, 1, WireFormat.PREAMBLE_BYTES));
                pair.first().becomeReadyToSend();
                pair.second().becomeReadyToReceive(pair.first().endpoint());
                pair.second().becomeReadyToSend();

                assertStillWorks(pair);
                assertThat(ends(impostor.getInputStream())).isTrue();
            }
        }
    }

    @Test
    void takesTheNextWhenTheFirstEndsWithoutARequest() throws IOException {
        try (ConnectedPair pair = ConnectedPair.create(fabric, QueuePairSettings.DEFAULT)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            try (Socket stale = socket(pair.second())) {
                stale.getOutputStream().write(preamble(pair, 0, 0, WireFormat.PREAMBLE_BYTES));
                pair.first().becomeReadyToReceive(pair.second().endpoint());
                pair.first().becomeReadyToSend();
            }
            assertStillWorks(pair);
        }
    }

    /** The preamble of the first end's queue pair, or almost. */
    private static byte[] preamble(ConnectedPair pair, int numberOff, int psnOff, int bytes) {
        try (NativeBuffer buffer = new NativeBuffer(WireFormat.PREAMBLE_BYTES)) {
            WireFormat.putPreamble(
                    buffer.address(),
                    pair.second().queuePair().number(),
                    pair.first().queuePair().number() + numberOff,
                    pair.first().endpoint().psn() + psnOff,
                    Gid.of(Loopback.A.address()),
                    0);
            return buffer.bytes(0, bytes);
        }
    }

    private static Socket socket(VerbsEnd end) throws IOException {
        Socket socket = new Socket(Loopback.B.address(), end.portAttributes().lid());
        socket.setSoTimeout(30_000);
        return socket;
    }

    private static void assertClosed(VerbsEnd end, byte[] bytes) throws IOException {
        try (Socket socket = socket(end)) {
            socket.getOutputStream().write(bytes);
            assertThat(ends(socket.getInputStream())).isTrue();
        }
    }

    private static boolean ends(InputStream in) {
        try {
            return in.read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true; // reset, since not all was read
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
            assertThat(target.bytes()).containsOnly(9);
        }
    }
}
