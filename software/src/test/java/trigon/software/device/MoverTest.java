package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.software.MoverSettings;
import trigon.software.wire.Messages;
import trigon.software.wire.WireFormat;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.verbs.ConnectionKey;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** A long message that is stuck, one way, holds up nothing that goes the other way. */
@Timeout(180)
class MoverTest {

    /** More than all buffers between two sockets. */
    private static final int LONG = 64 << 20;

    private static final int SHORT = 100;
    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;
    private static final ConnectionKey KEY = ConnectionKey.of(new byte[ConnectionKey.BYTES]);

    private final SoftwareVerbs provider = Loopback.provider(new MoverSettings(1, 5000));

    @AfterEach
    void close() {
        Loopback.closeUnused(provider);
    }

    @Test
    void aMessageIsReceivedWhileALongOneIsStuck() {
        try (ConnectedPair pair = ConnectedPair.open(Loopback.fabric(provider), Loopback.PATIENT);
                NativeBuffer memory = new NativeBuffer(LONG)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(memory);
            Pairs.send(pair, 1, memory, local, 0, LONG);
            assertThat(pair.first().hasSend()).isFalse();

            post(pair.first(), memory, local);
            send(pair.second(), memory, remote);

            assertThat(pair.first().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.first().hasSend()).isFalse();
        }
    }

    @Test
    void aMessageThatWaitsForItsReceiveGoesOnWhileALongOneIsStuck() {
        try (ConnectedPair pair = ConnectedPair.open(Loopback.fabric(provider), Loopback.PATIENT);
                NativeBuffer memory = new NativeBuffer(LONG)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(memory);
            send(pair.second(), memory, remote);
            Await.until("it waits", () -> {
                pair.first().hasReceive();
                return Pairs.awaitsReceive(pair.first());
            });
            Pairs.send(pair, 1, memory, local, 0, LONG);
            assertThat(pair.first().hasSend()).isFalse();

            post(pair.first(), memory, local);

            assertThat(pair.first().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.first().hasSend()).isFalse();
        }
    }

    /** The peer of the second end is the test, which says a half of it. */
    @Test
    void aMessageIsSentWhileALongOneHasComeInHalf() throws IOException {
        int length = 20_000;
        try (ConnectedPair pair = ConnectedPair.create(Loopback.fabric(provider), Loopback.PATIENT.withKey(KEY));
                NativeBuffer memory = new NativeBuffer(length)) {
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.second().becomeReadyToSend();
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(memory);
            Pairs.receive(pair, 1, memory, remote, 0, length);
            try (RawClient client = RawClient.to(pair)) {
                client.say(client.preamble(RawClient.hello(pair, 0, 0), KEY));
                assertThat(client.isAccepted(KEY)).isTrue();
                client.say(half(pair, length));
                Await.until("a half has come", () -> {
                    pair.second().hasReceive();
                    return Memory.getByte(memory.at(length / 2 - 1)) == 1;
                });

                post(pair.first(), memory, local);
                send(pair.second(), memory, remote);

                assertThat(pair.first().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.second().hasReceive()).isFalse();
            }
        }
    }

    private static byte[] half(ConnectedPair pair, int length) {
        try (NativeBuffer header = new NativeBuffer(Messages.REQUEST_BYTES)) {
            int psn = pair.first().endpoint().psn() & WireFormat.PSN_MASK;
            Messages.putRequest(header.address(), Messages.SEND | Messages.UNANSWERED, psn, length, 0, 0, 0);
            byte[] said = Arrays.copyOf(header.bytes(), Messages.REQUEST_BYTES + length / 2);
            Arrays.fill(said, Messages.REQUEST_BYTES, said.length, (byte) 1);
            return said;
        }
    }

    private static void post(VerbsEnd end, NativeBuffer memory, MemoryRegion region) {
        assertThat(end.queuePair().postReceive(9, memory.address(), SHORT, region.localKey()))
                .isZero();
    }

    private static void send(VerbsEnd end, NativeBuffer memory, MemoryRegion region) {
        assertThat(end.queuePair().postSend(9, memory.address(), SHORT, region.localKey(), INJECTED))
                .isZero();
    }
}
