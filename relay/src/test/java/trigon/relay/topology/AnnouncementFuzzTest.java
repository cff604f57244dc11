package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import trigon.system.InterfaceAddress;

/** Whatever is announced, by neighbours and others, with the cluster's proof or none, is taken or refused. */
@Tag("fuzz")
class AnnouncementFuzzTest {

    private static final int WITH_KEY = 1;
    private static final int PROVEN = 2;

    private static final List<InetAddress> SOURCES = List.of(
            InetAddress.ofLiteral("10.0.12.1"), // another process of this node
            InetAddress.ofLiteral("10.0.12.2"),
            InetAddress.ofLiteral("fd00::2"),
            InetAddress.ofLiteral("192.0.2.1"));

    /** Bits of the first byte say whether there is a key, whether the rest is a record to be proven, and the source. */
    @FuzzTest
    void whatIsHeardIsTakenOrRefused(byte[] data) {
        if (data.length == 0) {
            return;
        }
        AnnouncementKey key = (data[0] & WITH_KEY) != 0 ? Simulation.clusterKey() : Simulation.noKey();
        byte[] rest = Arrays.copyOfRange(data, 1, data.length);
        Topology topology = new Topology(
                new Origin(1, 1, "a"),
                List.of(
                        LinkRecord.silent(InterfaceAddress.parse("10.0.12.1/24"), 7, 1000),
                        LinkRecord.silent(InterfaceAddress.parse("fd00::1/64"), 7, 1000)),
                key,
                () -> 0,
                () -> 0);

        topology.received(
                ByteBuffer.wrap((data[0] & PROVEN) != 0 ? proven(rest, key) : rest),
                SOURCES.get(data[0] >>> 2 & SOURCES.size() - 1),
                0);
        topology.tick(0);

        Nodes nodes = topology.nodes();
        assertThat(nodes.all()).hasSizeLessThanOrEqualTo(1 + Byte.MAX_VALUE);
        assertThat(Shape.describe(nodes) + NodeOrder.advice(nodes)).doesNotContainPattern("[\\p{Cc}\\p{Cf}]");
        for (InetAddress target : SOURCES) {
            assertThat(Simulation.routes(nodes, target)).hasSizeLessThanOrEqualTo(8);
        }
    }

    /** Nobody gets further who does not know the key. */
    private static byte[] proven(byte[] rest, AnnouncementKey key) {
        byte[] body = Arrays.copyOf(rest, Math.min(rest.length, RecordCodec.MAX_RECORD_BYTES));
        return RecordCodec.pack(List.of(new RecordCodec.Sealed(body, key.prove(body))))
                .getFirst();
    }
}
