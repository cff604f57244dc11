package trigon.handshake;

import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.NodeIdentity;
import trigon.handshake.message.RemoteMemory;
import trigon.handshake.message.Stripe;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

/** The handshake's longest message in daily use, as bytes and back. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HandshakeCodecBenchmark {

    private final HandshakeMessage offer = new Offer(
            new ConnectionId(1),
            new NodeIdentity("node-17", OptionalInt.of(17), 0x11223344, 0, true),
            LinkKind.RDMA,
            Stripe.only(1),
            new QueuePairEndpoint(0x123456, 0xABCDEF, new Gid(1, 2), 0, Mtu.MTU_4096),
            new RemoteMemory(0x7F00_0000_1000L, 0x55667788),
            1 << 30);
    private final byte[] frame = HandshakeCodec.encode(offer);

    @Benchmark
    public byte[] encode() {
        return HandshakeCodec.encode(offer);
    }

    @Benchmark
    public HandshakeMessage decode() {
        ByteBuffer bytes = ByteBuffer.wrap(frame);
        HandshakeCodec.Header header = HandshakeCodec.decodeHeader(bytes);
        return HandshakeCodec.decodeBody(header.type(), bytes);
    }
}
