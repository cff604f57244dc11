package trigon.handshake.message;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Tag;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;

/** Whatever the bytes and their chunks are, they are messages that are written as they came, or refused. */
@Tag("fuzz")
public class FrameFuzzTest {

    /** The first byte is the length of the chunks, the rest is what comes. */
    @FuzzTest
    public void bytesAreReadOrRefused(byte[] data) {
        if (data.length == 0) {
            return;
        }
        int chunk = 1 + Byte.toUnsignedInt(data[0]);
        EmbeddedChannel channel = new EmbeddedChannel(new HandshakeFrameDecoder());
        try {
            for (int at = 1; at < data.length; at += chunk) {
                channel.writeInbound(Unpooled.copiedBuffer(data, at, Math.min(chunk, data.length - at)));
                for (Object read = channel.readInbound(); read != null; read = channel.readInbound()) {
                    check((HandshakeFrame) read);
                }
            }
        } catch (HandshakeException e) {
            assertThat(e.kind()).isEqualTo(HandshakeException.Kind.PROTOCOL);
        } finally {
            channel.finishAndReleaseAll();
        }
    }

    private static void check(HandshakeFrame frame) {
        byte[] again = HandshakeCodec.encode(0, frame.message());
        ByteBuffer buffer = ByteBuffer.wrap(again);
        HandshakeCodec.Header header = HandshakeCodec.decodeHeader(buffer);
        assertThat(HandshakeCodec.decodeBody(header.type(), buffer)).isEqualTo(frame.message());
        assertThat(again.length).isLessThanOrEqualTo(HandshakeCodec.MAX_FRAME_BYTES);
        assertThat(frame.message().toString()).doesNotContain("\n");
    }
}
