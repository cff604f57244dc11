package trigon.handshake.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;

class HandshakeFrameDecoderTest {

    private final EmbeddedChannel channel = new EmbeddedChannel(new HandshakeFrameDecoder());

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void cutsAnyChunksIntoMessages() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        RandomMessages messages = new RandomMessages(random);
        List<HandshakeMessage> sent = new ArrayList<>();
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int i = 0; i < 100; i++) {
            sent.add(messages.message());
            stream.writeBytes(HandshakeCodec.encode(0, sent.getLast()));
        }
        byte[] bytes = stream.toByteArray();

        for (int at = 0; at < bytes.length; ) {
            int length = Math.min(bytes.length - at, 1 + random.nextInt(random.nextBoolean() ? 3 : 600));
            channel.writeInbound(Unpooled.copiedBuffer(bytes, at, length));
            at += length;
        }

        assertThat(channel.inboundMessages().stream()
                        .map(frame -> ((HandshakeFrame) frame).message())
                        .toList())
                .as("seed %d", seed)
                .isEqualTo(sent);
    }

    @Test
    void refusesAStrangerWithItsFirstFourBytes() {
        channel.writeInbound(Unpooled.copiedBuffer("GET", StandardCharsets.US_ASCII));
        channel.checkException();
        channel.writeInbound(Unpooled.EMPTY_BUFFER);

        assertThatThrownBy(() -> channel.writeInbound(Unpooled.copiedBuffer(" / HTTP/1.1", StandardCharsets.US_ASCII)))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("does not speak Trigon's handshake");
    }

    @Test
    void refusesATooLongFrameWithItsHeader() {
        byte[] header = {'T', 'r', 'g', 'M', HandshakeCodec.VERSION, 4, 0x10, 0x01, 0, 0, 0, 0};

        assertThatThrownBy(() -> channel.writeInbound(Unpooled.wrappedBuffer(header)))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("too long: 4097 bytes");
    }

    @Test
    void refusesALongFrameOfAShortMessageWithItsHeader() {
        byte[] header = {'T', 'r', 'g', 'M', HandshakeCodec.VERSION, 5, 0x02, 0x01, 0, 0, 0, 0};

        assertThatThrownBy(() -> channel.writeInbound(Unpooled.wrappedBuffer(header)))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("too long: 513 bytes");
    }

    @Test
    void hearsNothingAfterAFault() {
        assertThatThrownBy(() -> channel.writeInbound(Unpooled.wrappedBuffer(new byte[4])))
                .isInstanceOf(HandshakeException.class);

        channel.writeInbound(Unpooled.wrappedBuffer(HandshakeCodec.encode(0, new HandshakeMessage.Ready(1))));

        assertThat(channel.inboundMessages()).isEmpty();
    }
}
