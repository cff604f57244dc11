package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.handshake.message.HandshakeException;
import trigon.stream.RefusalCause;
import trigon.stream.circuit.CircuitFormat;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;
import trigon.stream.dial.FirstHop;

/** What the handshake makes of those that it takes for relays. */
@Timeout(value = 20, threadMode = ThreadMode.SEPARATE_THREAD) // a loop without end hears no interrupt
class CircuitHandlerTest {

    private static final InetSocketAddress RELAY = new InetSocketAddress(InetAddress.ofLiteral("10.0.12.2"), 7001);

    private final List<InetSocketAddress> avoided = new ArrayList<>();

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

        ByteBuf reply = Unpooled.wrappedBuffer(CircuitFormat.refused(RefusalCause.FULL, "no room"), new byte[64]);
        assertThatThrownBy(() -> channel.writeInbound(reply)).hasMessage("a relay refuses: no room");
        assertThat(reply.refCnt()).isZero();
        channel.finishAndReleaseAll();
    }

    /** Only what tells of the end is the peer's word. */
    @ParameterizedTest
    @CsvSource({
        "END_REFUSED, REFUSED",
        "END_UNREACHABLE, UNREACHABLE",
        "FULL, NO_CIRCUIT",
        "DENIED, NO_CIRCUIT",
        "NEXT_RELAY, NO_CIRCUIT"
    })
    void tellsARelaysWordFromThePeers(RefusalCause cause, HandshakeException.Kind kind) {
        EmbeddedChannel channel = channel();
        channel.writeInbound(Unpooled.wrappedBuffer(CircuitFormat.greeting(new byte[16])));
        ReferenceCountUtil.release(channel.readOutbound());

        assertThatThrownBy(() -> channel.writeInbound(Unpooled.wrappedBuffer(CircuitFormat.refused(cause, "says why"))))
                .asInstanceOf(InstanceOfAssertFactories.type(HandshakeException.class))
                .returns(kind, HandshakeException::kind)
                .returns(cause == RefusalCause.END_REFUSED, HandshakeException::isRefusal);
        assertThat(avoided).isEqualTo(cause == RefusalCause.FULL ? List.of(RELAY) : List.of());
        channel.finishAndReleaseAll();
    }

    @Test
    void aRelayThatEndsBeforeThereIsACircuitIsAvoided() {
        EmbeddedChannel channel = channel();

        assertThatThrownBy(() -> {
                    var _ = channel.close();
                    channel.checkException();
                })
                .asInstanceOf(InstanceOfAssertFactories.type(HandshakeException.class))
                .returns(HandshakeException.Kind.NO_CIRCUIT, HandshakeException::kind);
        assertThat(avoided).containsExactly(RELAY);
    }

    private EmbeddedChannel channel() {
        InetSocketAddress end = new InetSocketAddress(InetAddress.ofLiteral("10.0.23.3"), 7000);
        CircuitKeys keys = new CircuitKeys(Optional.of(new byte[] {7}));
        CircuitRoute route = new CircuitRoute(RELAY, new CircuitRequest(List.of(end)), keys, avoided::add);
        return new EmbeddedChannel(new CircuitHandler(new FirstHop(RELAY, Optional.of(route), 0), route.opening()));
    }

    private static ByteBuf banner() {
        return Unpooled.copiedBuffer("SSH-2.0-" + "x".repeat(56), StandardCharsets.US_ASCII);
    }
}
