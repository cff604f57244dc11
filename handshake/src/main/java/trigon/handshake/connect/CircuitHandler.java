package trigon.handshake.connect;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.stream.Conversation;
import trigon.stream.Conversation.Step;
import trigon.stream.RefusalCause;
import trigon.stream.dial.FirstHop;
import trigon.system.InterfaceAddress;

/**
 * Opens the circuit of a handshake that goes through relays. Who comes after it in the pipeline hears that the channel
 * is active once the circuit is open, and nothing of what was said before.
 */
final class CircuitHandler extends ChannelInboundHandlerAdapter {

    private final FirstHop firstHop;
    private final Conversation opening;
    private boolean open;
    private boolean refused;

    /**
     * Opens one at its first relay.
     *
     * @param opening what is said there, from the beginning
     */
    CircuitHandler(FirstHop firstHop, Conversation opening) {
        this.firstHop = firstHop;
        this.opening = opening;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        // the relay speaks first
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (open || !(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
            return;
        }
        try {
            while (!open && !refused && bytes.isReadable()) {
                var expected = opening.expected();
                int wanted = Math.min(expected.remaining(), bytes.readableBytes());
                int limit = expected.limit();
                expected.limit(expected.position() + wanted);
                bytes.readBytes(expected);
                expected.limit(limit);
                if (!expected.hasRemaining()) {
                    go(context);
                }
            }
            if (open && bytes.isReadable()) { // the end waits for the first word, so this is not expected
                context.fireChannelRead(bytes.retain());
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void go(ChannelHandlerContext context) {
        switch (opening.next()) {
            case Step.Read() -> {}
            case Step.Send(byte[] request) -> {
                var _ = context.writeAndFlush(Unpooled.wrappedBuffer(request));
            }
            case Step.Open() -> {
                open = true;
                context.fireChannelActive();
            }
            case Step.Refused(String why) -> refuse(context, Kind.NO_CIRCUIT, why);
            case Step.NotOpened(RefusalCause cause, String why) -> {
                firstHop.onRefused(cause);
                refuse(context, kindOf(cause), why);
            }
        }
    }

    private void refuse(ChannelHandlerContext context, Kind kind, String why) {
        refused = true; // whatever it says after that is nobody's
        context.fireExceptionCaught(new HandshakeException(kind, "a relay refuses: " + why));
    }

    private static Kind kindOf(RefusalCause cause) {
        return switch (cause) {
            case END_REFUSED -> Kind.REFUSED;
            case END_UNREACHABLE -> Kind.UNREACHABLE;
            case FULL, DENIED, NEXT_RELAY -> Kind.NO_CIRCUIT;
        };
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!open && !refused) {
            loseRelay(context, "has closed the connection");
        }
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (open || refused || !(cause instanceof IOException)) {
            context.fireExceptionCaught(cause);
        } else {
            loseRelay(context, String.valueOf(cause.getMessage()));
        }
    }

    /** Before the circuit is open, the connection's end is the relay's, and not the peer's. */
    private void loseRelay(ChannelHandlerContext context, String how) {
        refused = true;
        firstHop.onUnreachable();
        context.fireExceptionCaught(new HandshakeException(
                Kind.NO_CIRCUIT,
                "the relay at %s opened no circuit: %s"
                        .formatted(InterfaceAddress.text(firstHop.address().getAddress()), how)));
    }
}
