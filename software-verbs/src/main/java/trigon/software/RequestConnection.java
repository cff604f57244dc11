package trigon.software;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;

/** The connection of a requester: its requests go out, the responses come in. Owned by the event loop. */
final class RequestConnection extends StreamReader {

    private final Requester requester;
    private final RequestStream stream;

    RequestConnection(Channel channel, ReceiveStaging staging, Requester requester) {
        super(channel, staging, WireFormat.RESPONSE_BYTES);
        this.requester = requester;
        stream = new RequestStream(channel, requester);
    }

    /** Connects from the device's address, and tells the requester how it went. */
    static void connect(SoftwareDeviceContext context, InetSocketAddress peer, Requester requester, int epoch) {
        ChannelFuture connecting = new Bootstrap()
                .group(context.thread().loop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.RECVBUF_ALLOCATOR, context.staging())
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new RequestConnection(channel, context.staging(), requester));
                    }
                })
                .connect(peer, new InetSocketAddress(context.device().address(), 0));
        connecting.addListener(done -> {
            Throwable cause = done.cause();
            if (cause == null) {
                requester.onConnected(connecting.channel().pipeline().get(RequestConnection.class), epoch);
            } else {
                requester.onConnectFailed(peer, cause, epoch);
            }
        });
    }

    RequestStream stream() {
        return stream;
    }

    /** Ends it: what has not been sent is dropped. */
    void close() {
        discard();
        stream.stop();
        closeChannel();
    }

    @Override
    void onHeader(long at) {
        int payload = requester.onResponse(
                WireFormat.responseKind(at),
                WireFormat.responseDetail(at),
                WireFormat.responsePsn(at),
                WireFormat.responseValue(at));
        expectPayload(payload);
    }

    @Override
    void onPayload(long at, int bytes, boolean last) {
        requester.onReadData(at, bytes, last);
    }

    @Override
    void onReadComplete() {
        requester.onResponsesHandled();
    }

    @Override
    void onClosed() {
        stream.stop();
        requester.onConnectionClosed(this);
    }
}
