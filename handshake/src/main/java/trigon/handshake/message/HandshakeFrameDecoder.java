package trigon.handshake.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Cuts a connection's bytes into {@link HandshakeFrame}s. Holds at most one frame; refuses a wrong peer with its first
 * bytes and a frame that is too long with its header. After the first fault it hears nothing more.
 */
public final class HandshakeFrameDecoder extends ByteToMessageDecoder {

    private boolean faulty;

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (faulty) {
            in.skipBytes(in.readableBytes());
            return;
        }
        try {
            decode(in, out);
        } catch (HandshakeException e) {
            faulty = true;
            in.skipBytes(in.readableBytes());
            context.fireExceptionCaught(e);
        }
    }

    private static void decode(ByteBuf in, List<Object> out) {
        int start = Math.min(in.readableBytes(), HandshakeCodec.START_BYTES);
        HandshakeCodec.requireStart(ByteBuffer.wrap(copy(in, in.readerIndex(), start)));
        if (in.readableBytes() < HandshakeCodec.HEADER_BYTES) {
            return;
        }
        HandshakeCodec.Header header =
                HandshakeCodec.decodeHeader(ByteBuffer.wrap(copy(in, in.readerIndex(), HandshakeCodec.HEADER_BYTES)));
        if (in.readableBytes() < HandshakeCodec.HEADER_BYTES + header.bodyBytes()) {
            return;
        }
        byte[] frame = copy(in, in.readerIndex(), HandshakeCodec.HEADER_BYTES + header.bodyBytes());
        in.skipBytes(frame.length);
        ByteBuffer body = ByteBuffer.wrap(frame, HandshakeCodec.HEADER_BYTES, header.bodyBytes());
        out.add(new HandshakeFrame(header.stream(), HandshakeCodec.decodeBody(header.type(), body), frame));
    }

    private static byte[] copy(ByteBuf from, int index, int bytes) {
        byte[] copy = new byte[bytes];
        from.getBytes(index, copy);
        return copy;
    }

    /**
     * A message as it came, or as it goes.
     *
     * @param stream of which connection's handshake it is, of those that share the channel
     * @param message what it says
     * @param bytes the whole frame, its proof at the end where the message has one; see {@code HandshakeCodec}
     */
    @SuppressWarnings("ArrayRecordComponent") // the bytes are whose they are, and frames are not compared
    public record HandshakeFrame(int stream, HandshakeMessage message, byte[] bytes) {}
}
