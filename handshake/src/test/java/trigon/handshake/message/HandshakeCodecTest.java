package trigon.handshake.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

class HandshakeCodecTest {

    private static final int HEADER = HandshakeCodec.HEADER_BYTES;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final RandomMessages messages = new RandomMessages(random);

    @Test
    void readsWhatItWrote() {
        for (int i = 0; i < 2_000; i++) {
            HandshakeMessage message = messages.message();

            assertThat(decode(HandshakeCodec.encode(0, message)))
                    .as("seed %d", seed)
                    .isEqualTo(message);
        }
    }

    @Test
    void writesTheDocumentedBytes() {
        Offer offer = new Offer(
                new ConnectionId(0x0102030405060708L),
                new NodeIdentity("ab", OptionalInt.of(3), 0x11223344, new Decider(9, true, 0x55667788), 6, true),
                LinkKind.RDMA,
                new Stripe(0x1112131415161718L, 2, 5),
                new QueuePairEndpoint(0x123456, 0xABCDEF, new Gid(1, 2), 7, Mtu.MTU_4096),
                new RemoteMemory(0x7F00_0000_1000L, 0x55667788),
                1 << 30,
                Optional.of(new ResumeCounts(6, 9, 8, true)),
                List.of(new LinkAddress(InetAddress.ofLiteral("10.0.12.1"), 24, 0x4567, Set.of(LinkKind.SOFTWARE))));
        int bytes = 8 + 3 + 2 + 10 + 1 + 1 + 10 + 27 + 12 + 8 + 21 + 9 + 32;
        ByteBuffer expected = ByteBuffer.allocate(HandshakeCodec.HEADER_BYTES + bytes)
                .putInt(0x5472674D)
                .put((byte) 18)
                .put((byte) 1)
                .putShort((short) bytes)
                .putInt(0)
                .putLong(0x0102030405060708L)
                .put(new byte[] {2, 'a', 'b'})
                .putShort((short) 3)
                .putInt(0x11223344)
                .put((byte) 9)
                .putInt(0x55667788)
                .put((byte) 6)
                .put((byte) 3)
                .put((byte) 1)
                .putLong(0x1112131415161718L)
                .put((byte) 2)
                .put((byte) 5)
                .putInt(0x123456)
                .putInt(0xABCDEF)
                .putLong(1)
                .putLong(2)
                .putShort((short) 7)
                .put((byte) 5)
                .putLong(0x7F00_0000_1000L)
                .putInt(0x55667788)
                .putLong(1 << 30)
                .putInt(6)
                .putLong(9)
                .putLong(8)
                .put((byte) 1)
                .put(new byte[] {1, 0x7E, 24, 0x45, 0x67, 10, 0, 12, 1});

        Answer answer = new Answer(
                "cd",
                LinkKind.SOFTWARE,
                new QueuePairEndpoint(0x123456, 0xABCDEF, new Gid(1, 2), 7, Mtu.MTU_4096),
                new RemoteMemory(0x7F00_0000_1000L, 0x55667788),
                1 << 30,
                25_000,
                true,
                9);
        int answerBytes = 3 + 1 + 27 + 12 + 8 + 4 + 1 + 8 + 32;
        ByteBuffer answered = ByteBuffer.allocate(HandshakeCodec.HEADER_BYTES + answerBytes)
                .putInt(0x5472674D)
                .put((byte) 18)
                .put((byte) 2)
                .putShort((short) answerBytes)
                .putInt(0)
                .put(new byte[] {2, 'c', 'd'})
                .put((byte) 2)
                .put(expected.array(), HandshakeCodec.HEADER_BYTES + 8 + 3 + 2 + 10 + 1 + 1 + 10, 27 + 12 + 8)
                .putInt(25_000)
                .put((byte) 1)
                .putLong(9);

        assertThat(HandshakeCodec.encode(0, offer)).isEqualTo(expected.array());
        assertThat(HandshakeCodec.encode(0, answer)).isEqualTo(answered.array());
        assertThat(HandshakeCodec.encode(0, new Ready(4)))
                .isEqualTo(Arrays.copyOf(new byte[] {'T', 'r', 'g', 'M', 18, 3, 0, 33, 0, 0, 0, 0, 4}, 12 + 33));
    }

    @Test
    void longestReasonFitsAFrame() {
        Reject reject = new Reject("\uD83D\uDE80".repeat(5_000));

        assertThat(HandshakeCodec.encode(0, reject).length)
                .isEqualTo(HandshakeCodec.HEADER_BYTES + 4 * Reject.MAX_REASON_CHARS);
        assertThat(decode(HandshakeCodec.encode(0, reject))).isEqualTo(reject);
    }

    @Test
    void reasonCannotForgeALogLine() {
        assertThat(new Reject("no\r\n2026-11-20 ERROR\u0000\u001b[31m \ud800").reason())
                .isEqualTo("no  2026-11-20 ERROR  [31m ?");
    }

    @Test
    void refusesACutMessage() {
        for (int i = 0; i < 200; i++) {
            byte[] frame = HandshakeCodec.encode(0, messages.offer(messages.connection(), LinkKind.SOFTWARE));
            int type = frame[5];
            byte[] body = Arrays.copyOfRange(frame, HEADER, HEADER + random.nextInt(frame.length - HEADER));

            assertThatThrownBy(() -> HandshakeCodec.decodeBody(type, ByteBuffer.wrap(body)))
                    .as("seed %d", seed)
                    .isInstanceOf(HandshakeException.class);
        }
    }

    @Test
    void refusesTrailingBytes() {
        assertThatThrownBy(() -> HandshakeCodec.decodeBody(3, ByteBuffer.wrap(Arrays.copyOf(new byte[] {1}, 34))))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("1 bytes follow");
    }

    @Test
    void namesBothVersions() {
        byte[] frame = HandshakeCodec.encode(0, new Ready(1));
        frame[4] = 11;

        assertThatThrownBy(() -> decode(frame))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("version 11")
                .hasMessageContaining("version 18")
                .hasMessageContaining("same Trigon");
    }

    @Test
    void garbageIsNothingButRefused() {
        for (int i = 0; i < 5_000; i++) {
            byte[] body = new byte[random.nextInt(128)];
            random.nextBytes(body);
            int type = random.nextInt(8);

            decodeOrRefuse(type, body);
        }
    }

    @Test
    void damagedMessagesAreReadOrRefused() {
        for (int i = 0; i < 5_000; i++) {
            byte[] frame = HandshakeCodec.encode(0, messages.message());
            byte[] body = Arrays.copyOfRange(frame, HEADER, frame.length);
            for (int flips = random.nextInt(4); flips >= 0 && body.length > 0; flips--) {
                body[random.nextInt(body.length)] = (byte) random.nextInt();
            }

            decodeOrRefuse(frame[5], body);
        }
    }

    private void decodeOrRefuse(int type, byte[] body) {
        try {
            HandshakeMessage read = HandshakeCodec.decodeBody(type, ByteBuffer.wrap(body));
            assertThat(decode(HandshakeCodec.encode(0, read)))
                    .as("seed %d", seed)
                    .isEqualTo(read);
        } catch (HandshakeException e) {
            assertThat(e.kind()).isEqualTo(HandshakeException.Kind.PROTOCOL);
        }
    }

    private static HandshakeMessage decode(byte[] frame) {
        ByteBuffer buffer = ByteBuffer.wrap(frame);
        HandshakeCodec.Header header = HandshakeCodec.decodeHeader(buffer);
        assertThat(header.bodyBytes()).isEqualTo(buffer.remaining());
        return HandshakeCodec.decodeBody(header.type(), buffer);
    }
}
