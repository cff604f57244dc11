package trigon.handshake.lifeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import trigon.handshake.Node;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.stream.circuit.JobKeys;

/**
 * A peer that does what a fuzzer's bytes say: what it should, nearly what it should, or anything. Plays against one end
 * of a handshake on an embedded channel, with a clock of its own: everything happens on the calling thread, and
 * repeats.
 */
public final class FuzzedPeer {

    public static final ConnectionId CONNECTION = new ConnectionId(0x0123456789ABCDEFL);
    public static final InetSocketAddress LISTENING = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 4711);
    public static final InetSocketAddress CONNECTING = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 4712);

    private final Side side;
    private final EmbeddedChannel channel;
    private final HandshakeProofs proofs;
    private final HandshakeProofs proofsOfAnotherSecret;
    private final ByteBuffer script;
    private final List<HandshakeMessage> heard = new ArrayList<>();

    /** How often each stream was refused. */
    private final Map<Integer, Integer> rejections = new HashMap<>();

    /**
     * A peer on its end of a new channel.
     *
     * @param side the peer's
     * @param script what it does
     * @param end has the end that it plays against take that channel
     */
    public FuzzedPeer(Side side, byte[] script, BiConsumer<HandshakeEventLoop, Channel> end) {
        this.side = side;
        this.script = ByteBuffer.wrap(script);
        proofs = HandshakeProofs.of(side, Node.secretOf(CONNECTION), Optional.empty());
        proofsOfAnotherSecret = HandshakeProofs.of(side, Node.secretOf(new ConnectionId(1)), Optional.empty());
        channel = new EmbeddedChannel(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel initialized) {
                EmbeddedChannel embedded = (EmbeddedChannel) initialized;
                HandshakeEventLoop loop = new HandshakeEventLoop(
                        embedded.eventLoop(),
                        () -> embedded.eventLoop().ticker().nanoTime(),
                        new JobKeys(() -> 0),
                        embedded.eventLoop()::execute);
                end.accept(loop, embedded);
            }
        });
    }

    /** Whether there is more to do. */
    public boolean hasNext() {
        return script.hasRemaining();
    }

    /** The script's next byte, unsigned; 0 at its end. */
    public int next() {
        return script.hasRemaining() ? Byte.toUnsignedInt(script.get()) : 0;
    }

    /** Says a message as it should be. */
    public void say(HandshakeMessage message) {
        byte[] frame = HandshakeCodec.encode(0, message);
        if (message instanceof HandshakeMessage.Hello) {
            proofs.note(frame);
        } else {
            proofs.prove(frame);
        }
        int split = Math.min(next(), frame.length);
        deliver(frame, 0, split);
        deliver(frame, split, frame.length);
    }

    /** Says it with one byte changed, and does not take it for said. */
    public void sayChanged(HandshakeMessage message) {
        byte[] frame = HandshakeCodec.encode(0, message);
        frame[next() * frame.length / 256] ^= (byte) (1 + next() % 255);
        deliver(frame, 0, frame.length);
    }

    /** Says it with the proof of one that knows another secret. */
    public void sayWithAnotherSecret(HandshakeMessage message) {
        byte[] frame = HandshakeCodec.encode(0, message);
        proofsOfAnotherSecret.prove(frame);
        deliver(frame, 0, frame.length);
    }

    /** Says what the script has. */
    public void sayAnything() {
        byte[] bytes = new byte[Math.min(next(), script.remaining())];
        script.get(bytes);
        deliver(bytes, 0, bytes.length);
    }

    private void deliver(byte[] bytes, int from, int to) {
        if (from < to && channel.isOpen()) {
            channel.writeInbound(Unpooled.copiedBuffer(bytes, from, to - from));
            settle();
        }
    }

    public void pass(long milliseconds) {
        channel.advanceTimeBy(milliseconds, TimeUnit.MILLISECONDS);
        settle();
    }

    public void hangUp() {
        var _ = channel.close();
        settle();
    }

    /** Lets the other end do what it has to, and hears what it says. */
    public void settle() {
        channel.runPendingTasks();
        channel.runScheduledPendingTasks();
        channel.checkException();
        for (ByteBuf frame = channel.readOutbound(); frame != null; frame = channel.readOutbound()) {
            hear(frame);
        }
    }

    private void hear(ByteBuf frame) {
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        frame.release();
        int next = 0;
        while (next < bytes.length) { // fillers come together
            HandshakeCodec.Header header =
                    HandshakeCodec.decodeHeader(ByteBuffer.wrap(bytes, next, HandshakeCodec.HEADER_BYTES));
            int end = next + HandshakeCodec.HEADER_BYTES + header.bodyBytes();
            hear(header, Arrays.copyOfRange(bytes, next, end));
            next = end;
        }
    }

    private void hear(HandshakeCodec.Header header, byte[] frame) {
        ByteBuffer body = ByteBuffer.wrap(frame, HandshakeCodec.HEADER_BYTES, header.bodyBytes());
        HandshakeMessage message = HandshakeCodec.decodeBody(header.type(), body);
        switch (message) {
            case HandshakeMessage.Filler _ -> {
                return;
            }
            case HandshakeMessage.Hello _ -> proofs.note(frame);
            case HandshakeMessage.Reject _ -> rejections.merge(header.stream(), 1, Integer::sum);
            case HandshakeMessage.Closed _, HandshakeMessage.JobKey _ -> {}
            case HandshakeMessage.Alive(long count)
            when count == 0 && side == Side.LISTENING && proofs.verify(frame) -> echo();
            default -> proofs.verify(frame); // wrong, where the two no longer agree on what was said
        }
        heard.add(message);
    }

    /** Says that what came behind the fillers has come: no script is long enough to find that out again and again. */
    private void echo() {
        byte[] frame = HandshakeCodec.encode(0, new HandshakeMessage.Alive(0));
        proofs.prove(frame);
        deliver(frame, 0, frame.length);
    }

    /** What the other end has said, in this order. */
    public List<HandshakeMessage> heard() {
        return heard;
    }

    /** How often each stream was refused, of those that were. */
    public Collection<Integer> rejections() {
        return rejections.values();
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /** Ends the channel, and fails if the end it was for has left something behind. */
    public void end() {
        channel.finishAndReleaseAll();
    }
}
