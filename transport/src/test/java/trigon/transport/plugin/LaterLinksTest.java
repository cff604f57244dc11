package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.config.PluginConfig;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.Source;
import trigon.handshake.message.ListenHandle;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LocalLink;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.InterfaceAddress;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.metrics.Metrics;
import trigon.transport.request.RequestTable;
import trigon.transport.testsupport.LaneVerbs;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** A machine of the loopback's addresses, which gets more of them. */
@Timeout(120)
class LaterLinksTest {

    private static final LocalLink FIRST = link(1, "127.3.1.1/24");
    private static final LocalLink SECOND = link(2, "127.3.2.1/24");

    /** An address of documentation: nobody can listen there. */
    private static final LocalLink NOT_YET = link(3, "192.0.2.1/24");

    private final List<LocalLink> found = new ArrayList<>();
    private final Queue<Runnable> soon = new ArrayDeque<>();
    private final SoftwareVerbs software = new SoftwareVerbs(List.of(device(FIRST)));
    private NodeResources node;
    private CandidatePaths candidates;
    private LaterLinks later;

    @BeforeEach
    void openWithTheFirst() {
        PluginConfig config = PluginConfig.withoutFile(new Setting<>(LinkPolicy.SOFTWARE, Source.DEFAULT));
        DiscoveredLinks discovered = new DiscoveredLinks(List.of(FIRST), Map.of(), List.of());
        HostNetwork host = new HostNetwork(
                "host", 4096, discovered, Map.of(LinkKind.SOFTWARE, software), _ -> Optional.empty(), this::beyond);
        PluginSetup setup = new PluginSetup(
                config, host, new VisibleState(RequestTable.unseen(LaneVerbs.FUNCTIONS), Metrics.unshared()));
        node = NodeResources.open(setup);
        TransportAssembly assembly = new TransportAssembly(setup, node, soon::add);
        candidates = assembly.candidates();
        later = assembly.later();
    }

    @AfterEach
    void close() {
        node.listeners().close();
        node.close();
        software.close();
    }

    @Test
    void whatHasComeIsListenedOnAnnouncedAndRouted() {
        assertThat(addresses()).containsExactly("127.3.1.1");
        assertThat(candidates.now("peer", peer("127.3.2.2/24"), Set.of(), 0)).isEmpty();

        found.add(SECOND);
        look();

        assertThat(addresses()).containsExactly("127.3.1.1", "127.3.2.1");
        assertThat(later.addresses())
                .allSatisfy(address ->
                        assertThat(address.port()).isEqualTo(node.listeners().port(address.address())));
        assertThat(ListenHandle.fitting(later.addresses())).isEqualTo(later.addresses());
        assertThat(candidates.now("peer", peer("127.3.2.2/24"), Set.of(), 0))
                .singleElement()
                .satisfies(path -> assertThat(path.local()).isEqualTo(SECOND));
        assertThat(node.links().of(SECOND).isUp()).isTrue();
    }

    @Test
    void anAddressThatCannotBeUsedYetIsTriedAgainAndTheOthersAreNot() {
        found.addAll(List.of(NOT_YET, SECOND));
        look();
        assertThat(addresses()).containsExactly("127.3.1.1", "127.3.2.1");

        look();
        assertThat(addresses()).as("each once").containsExactly("127.3.1.1", "127.3.2.1");
    }

    @Test
    void manyEventsAreOneLook() {
        for (int i = 0; i < 100; i++) {
            later.mayHaveCome();
        }
        assertThat(soon).hasSize(1);

        soon.remove().run();
        later.mayHaveCome();
        assertThat(soon).as("the next one, after the look").hasSize(1);
    }

    @Test
    void thereIsAnEndOfThem() {
        IntStream.range(0, 40)
                .mapToObj(i -> link(10 + i, "127.3.%d.1/24".formatted(10 + i)))
                .forEach(found::add);
        look();

        assertThat(node.links().all()).hasSize(32);
        assertThat(later.addresses()).hasSize(32);
        assertThat(ListenHandle.fitting(later.addresses()))
                .as("as a message has room for")
                .hasSize(10);
    }

    @Test
    void aSearchThatFailsLeavesThingsAsTheyAre() {
        found.add(link(-1, "127.3.9.1/24"));
        found.add(SECOND);
        look();

        assertThat(addresses()).containsExactly("127.3.1.1");
    }

    private void look() {
        later.mayHaveCome();
        soon.remove().run();
    }

    private List<LocalLink> beyond(List<LocalLink> known) {
        Set<String> devices = new HashSet<>(software.deviceNames());
        List<LocalLink> beyond =
                found.stream().filter(link -> !known.contains(link)).toList();
        if (beyond.stream().anyMatch(link -> link.rank() < 0)) {
            throw new IllegalStateException("the interfaces cannot be listed");
        }
        beyond.stream().filter(link -> devices.add(link.deviceName())).forEach(link -> software.add(device(link)));
        return beyond;
    }

    private List<String> addresses() {
        return later.addresses().stream()
                .map(address -> InterfaceAddress.text(address.address()))
                .toList();
    }

    private static PeerDescription peer(String address) {
        InterfaceAddress at = InterfaceAddress.parse(address);
        return new PeerDescription(
                OptionalInt.empty(),
                List.of(new PeerLink(at.address(), at.prefixLength(), 4711, Set.of(LinkKind.SOFTWARE))));
    }

    private static LocalLink link(int rank, String address) {
        InterfaceAddress at = InterfaceAddress.parse(address);
        String name = "soft_" + at;
        return new LocalLink(
                name, LinkKind.SOFTWARE, name, 1, at, 0, Gid.of(at.address()), 10_000, "eth" + rank, 0, rank);
    }

    private static SoftwareDevice device(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(), link.bindAddress(), link.address().prefixLength(), link.speedMbps(), 0);
    }
}
