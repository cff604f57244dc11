package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.RemoteMemory;
import trigon.qpstate.QueuePairParameters;
import trigon.transport.metrics.Metrics;
import trigon.transport.testsupport.ReadingVerbs;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.QueuePairStateCode;

/** Connections are made with what a port is then, and not with what it was when its device was opened. */
class ChangedPortTest {

    private final ReadingVerbs verbs = new ReadingVerbs();
    private final Metrics metrics = Metrics.unshared();
    private final Links links = Links.open(
            List.of(ReadingVerbs.link("one", LinkKind.RDMA, 1)), Map.of(LinkKind.RDMA, verbs), 4096, metrics);
    private final Link link = links.all().getFirst();
    private final Gid gid = link.local().gid();

    @AfterEach
    void close() {
        links.close();
        metrics.close();
    }

    @Test
    void aConnectionTakesTheMtuOfNow() {
        assertThat(mtu()).isEqualTo(Mtu.MTU_1024);

        verbs.mtu = Mtu.MTU_4096;

        assertThat(mtu()).isEqualTo(Mtu.MTU_4096);
    }

    @Test
    void anAddressThatHasReturnedIsTakenWhereItIs() {
        verbs.gids = List.of(
                new GidEntry(0, Gid.of(link.local().bindAddress()), GidEntry.Type.ROCE_V2, 1),
                new GidEntry(1, gid, GidEntry.Type.ROCE_V2, 1));
        assertThat(sourceGidIndex()).isZero();

        verbs.gids =
                List.of(new GidEntry(4, gid, GidEntry.Type.ROCE_V1, 1), new GidEntry(5, gid, GidEntry.Type.ROCE_V2, 1));
        assertThat(sourceGidIndex()).isEqualTo(5);

        verbs.gids = List.of(); // the verb says so
        assertThat(sourceGidIndex()).isZero();
    }

    private Mtu mtu() {
        try (PathChannel path = open()) {
            return path.endpoint().mtu();
        }
    }

    private int sourceGidIndex() {
        try (PathChannel path = open()) {
            path.connect(
                    new QueuePairEndpoint(2, 3, gid, 0, Mtu.MTU_1024),
                    ConnectionKey.of(new byte[ConnectionKey.BYTES]),
                    RemoteMemory.NONE,
                    0,
                    0);
        }
        return verbs.modified.stream()
                .filter(each -> each.state() == QueuePairStateCode.READY_TO_RECEIVE)
                .map(QueuePairAttributes::addressVector)
                .toList()
                .getLast()
                .sourceGidIndex();
    }

    private PathChannel open() {
        return PathChannel.open(
                link,
                PathRole.SENDER,
                new PathCapacity(1, 1, 0, 0),
                new QueuePairParameters(14, 2, 7, 12, 1, 1),
                new SplittableRandom(1),
                false);
    }
}
