package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.system.Memory;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Messages by clear-to-send entries, whose rings lie in pages of any size that a kernel may have. */
@Timeout(300)
class PageSizeTest {

    private static final int CONNECTIONS = 5; // more rings than pages of 4 KiB have places
    private static final int MESSAGES = 40; // more than a ring has entries
    private static final int MBPS = 100_000;

    @ParameterizedTest
    @ValueSource(ints = {4 << 10, 16 << 10, 64 << 10})
    void messagesComeWhateverTheSizeOfPages(int pageBytes) {
        TestNode a = node(1, pageBytes);
        TestNode b = node(2, pageBytes);
        try (a;
                b) {
            List<Connected> connections = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(new Connected(a, b));
            }
            long from = a.allocate(Long.BYTES);
            long to = b.allocate(Long.BYTES);
            for (Connected ab : connections) {
                long fromHandle = a.register(ab.sendComm, from, Long.BYTES);
                long toHandle = b.register(ab.receiveComm, to, Long.BYTES);
                for (int i = 0; i < MESSAGES; i++) {
                    Memory.putLong(from, i);
                    long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, Long.BYTES, 0, toHandle));
                    long send = retry(() -> a.plugin.isend(ab.sendComm, from, Long.BYTES, 0, fromHandle));
                    assertThat(finish(b, receive)).isEqualTo(Long.BYTES);
                    assertThat(finish(a, send)).isEqualTo(Long.BYTES);
                    assertThat(Memory.getLong(to)).isEqualTo(i);
                }
            }
        }
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
    }

    private static TestNode node(int host, int pageBytes) {
        InterfaceAddress address = InterfaceAddress.parse("127.8.1." + host + "/24");
        LocalLink link = new LocalLink(
                "pages", LinkKind.RDMA, "pages", 1, address, 0, Gid.of(address.address()), MBPS, "lo", 1, 0);
        return new TestNode("node" + host, List.of(link), Map.of(), MBPS, pageBytes);
    }
}
