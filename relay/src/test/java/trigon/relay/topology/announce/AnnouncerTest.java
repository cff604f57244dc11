package trigon.relay.topology.announce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.relay.topology.AnnouncementKey;
import trigon.relay.topology.LinkRecord;
import trigon.relay.topology.Origin;
import trigon.relay.topology.Topology;
import trigon.system.InterfaceAddress;
import trigon.testsupport.Await;

/** Announcers of one node, on its real interfaces. */
@Timeout(300)
class AnnouncerTest {

    private record Link(NetworkInterface network, InterfaceAddress address) {}

    /** Two processes of a node are not told of each other by unicast. */
    @ParameterizedTest
    @ValueSource(classes = {Inet4Address.class, Inet6Address.class})
    void processesHearEachOtherByMulticast(Class<? extends InetAddress> family) throws Exception {
        Optional<Link> link = links().filter(
                        each -> family.isInstance(each.address().address()))
                .findFirst();
        assumeTrue(link.isPresent(), "no interface with multicast has an address of " + family.getSimpleName());
        int port = freePort(link.get().address().address());
        try (Announcer one = announcer(1, List.of(link.get()), port);
                Announcer two = announcer(2, List.of(link.get()), port)) {
            one.start();
            two.start();
            assertThat(one.nodesToRelay().all())
                    .as("it calls the other, if it does not know it yet")
                    .isNotEmpty();
            // one that hears too late forgets the other again, so they need not know each other at the same moment
            Await.until("one hears two", () -> one.nodes().all().size() == 2);
            Await.until("two hears one", () -> two.nodes().all().size() == 2);
        }
    }

    @Test
    void allSocketsAreClosed() throws Exception {
        assertNoneIsLeft(freePort(InetAddress.ofLiteral("127.0.0.1")));
    }

    @Test
    void thoseThatCannotBeBoundAreClosedToo() throws Exception {
        try (DatagramSocket other = new DatagramSocket(0)) {
            assertNoneIsLeft(other.getLocalPort());
        }
    }

    private static void assertNoneIsLeft(int port) throws IOException {
        List<Link> all = links().toList();
        openAndClose(all, port);
        long before = descriptors();
        for (int i = 0; i < 20; i++) {
            openAndClose(all, port);
        }
        assertThat(descriptors()).isLessThan(before + 10);
    }

    private static void openAndClose(List<Link> links, int port) throws IOException {
        try (Announcer announcer = announcer(1, links, port)) {
            announcer.start();
        }
    }

    private static Announcer announcer(long process, List<Link> links, int port) throws IOException {
        List<LinkRecord> records = links.stream()
                .map(link -> LinkRecord.silent(link.address(), 0, 1))
                .toList();
        Topology topology = new Topology(
                new Origin(process, process, "n" + process),
                records,
                new AnnouncementKey(Optional.empty()),
                () -> 0,
                () -> 0);
        List<Integer> indices =
                links.stream().map(link -> link.network().getIndex()).toList();
        return new Announcer(topology, port, indices, List.of(), _ -> {});
    }

    private static Stream<Link> links() throws IOException {
        return NetworkInterface.networkInterfaces()
                .filter(AnnouncerTest::doesMulticast)
                .flatMap(network -> network.getInterfaceAddresses().stream()
                        .filter(each -> !each.getAddress().isLinkLocalAddress())
                        .map(each -> new Link(network, address(each))));
    }

    private static boolean doesMulticast(NetworkInterface network) {
        try {
            return network.isUp() && network.supportsMulticast();
        } catch (IOException _) {
            return false; // gone meanwhile
        }
    }

    private static InterfaceAddress address(java.net.InterfaceAddress address) {
        InetAddress zoned = address.getAddress();
        InetAddress plain = new InterfaceAddress(zoned, zoned.getAddress().length * Byte.SIZE).address();
        return new InterfaceAddress(plain, address.getNetworkPrefixLength());
    }

    private static int freePort(InetAddress address) throws IOException {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address, 0))) {
            return socket.getLocalPort();
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        }
    }
}
