package trigon.handshake.connect;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.stream.Conversation;
import trigon.stream.Conversation.Step;

/**
 * Opens the circuit of a handshake that goes through relays. Who comes after it in the pipeline hears that the channel
 * is active once the circuit is open, and nothing of what was said before.
 */
final class CircuitHandler extends ChannelInboundHandlerAdapter {

    private final Conversation opening;
    private boolean open;
    private boolean refused;

    CircuitHandler(Conversation opening) {
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
            case Step.Refused(String why) -> {
                refused = true; // whatever it says after that is nobody's
                context.fireExceptionCaught(new HandshakeException(Kind.UNREACHABLE, "a relay refuses: " + why));
            }
        }
    }
}
