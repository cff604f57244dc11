package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import trigon.handshake.message.HandshakeException;
import trigon.stream.circuit.CircuitFormat;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitOpening;
import trigon.stream.circuit.CircuitRequest;

/** What the handshake makes of those that it takes for relays. */
@Timeout(value = 20, threadMode = ThreadMode.SEPARATE_THREAD) // a loop without end hears no interrupt
class CircuitHandlerTest {

    @Test
    void whoGreetsWithMoreThanARelayDoesIsRefusedOnce() {
        EmbeddedChannel channel = channel();
        ByteBuf banner = banner();
        assertThatThrownBy(() -> channel.writeInbound(banner))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("a relay refuses");
        assertThat(banner.refCnt()).isZero();

        ByteBuf more = banner();
        assertThat(channel.writeInbound(more)).isFalse();
        assertThat(more.refCnt()).isZero();
        assertThat(channel.outboundMessages()).isEmpty();
        channel.finishAndReleaseAll();
    }

    @Test
    void whatFollowsARefusalIsLeftAlone() {
        EmbeddedChannel channel = channel();
        channel.writeInbound(Unpooled.wrappedBuffer(CircuitFormat.greeting(new byte[16])));
        ByteBuf request = channel.readOutbound();
        assertThat(request.isReadable()).isTrue();
        request.release();

        ByteBuf reply = Unpooled.wrappedBuffer(CircuitFormat.refused("no room"), new byte[64]);
        assertThatThrownBy(() -> channel.writeInbound(reply)).hasMessage("a relay refuses: no room");
        assertThat(reply.refCnt()).isZero();
        channel.finishAndReleaseAll();
    }

    private static EmbeddedChannel channel() {
        InetSocketAddress end = new InetSocketAddress(InetAddress.ofLiteral("10.0.23.3"), 7000);
        CircuitKeys keys = new CircuitKeys(Optional.of(new byte[] {7}));
        return new EmbeddedChannel(new CircuitHandler(new CircuitOpening(new CircuitRequest(List.of(end)), keys)));
    }

    private static ByteBuf banner() {
        return Unpooled.copiedBuffer("SSH-2.0-" + "x".repeat(56), StandardCharsets.US_ASCII);
    }
}
