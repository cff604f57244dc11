package trigon.routing;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NicReference;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.SettingKey;
import trigon.config.setting.SettingValues;
import trigon.config.setting.Source;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.InnerInterfaces;
import trigon.routing.discovery.RdmaPort;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;

/** Makes the routing tests' values from text. */
public final class Links {

    public static final RouteLookup NO_ROUTES = _ -> Optional.empty();
    public static final int TCP_PORT = 7471;
    // the name Path is taken in this package
    private static final java.nio.file.Path FILE = java.nio.file.Path.of("/etc/trigon.yaml");
    public static final Source LINE = new Source.File(FILE, 9);

    private Links() {}

    public static InetAddress address(String text) {
        return InterfaceAddress.parseAddress(text);
    }

    public static LocalLink rdma(String name, String address, int rank) {
        return local(name, LinkKind.RDMA, InterfaceAddress.parse(address), rank);
    }

    public static LocalLink software(String name, String address, int rank) {
        return software(name, address, rank, 100_000);
    }

    public static LocalLink software(String name, String address, int rank, int speedMbps) {
        return local(name, LinkKind.SOFTWARE, InterfaceAddress.parse(address), rank, speedMbps);
    }

    public static LocalLink local(String name, LinkKind kind, InterfaceAddress address, int rank) {
        return local(name, kind, address, rank, 100_000);
    }

    private static LocalLink local(String name, LinkKind kind, InterfaceAddress address, int rank, int speedMbps) {
        return new LocalLink(
                name, kind, name, 1, address, 1, Gid.of(address.address()), speedMbps, "if_" + name, 1 + rank, rank);
    }

    public static PeerLink remote(String address, LinkKind first, LinkKind... more) {
        InterfaceAddress parsed = InterfaceAddress.parse(address);
        return new PeerLink(parsed.address(), parsed.prefixLength(), TCP_PORT, EnumSet.of(first, more));
    }

    /** The links as peers are told of them: one for each address. */
    public static List<PeerLink> advertised(DiscoveredLinks found) {
        Map<InterfaceAddress, Set<LinkKind>> kinds = new TreeMap<>();
        Map<InterfaceAddress, Bandwidth> bandwidths = new HashMap<>();
        for (LocalLink link : found.links()) {
            bandwidths.merge(link.address(), link.bandwidth(), (one, other) -> one.exceeds(other) ? one : other);
            kinds.computeIfAbsent(link.address(), _ -> EnumSet.noneOf(LinkKind.class))
                    .add(link.kind());
        }
        List<PeerLink> advertised = new ArrayList<>();
        kinds.forEach((address, served) -> advertised.add(new PeerLink(
                address.address(),
                address.prefixLength(),
                TCP_PORT,
                served,
                bandwidths.getOrDefault(address, Bandwidth.NOT_TOLD))));
        return List.copyOf(advertised);
    }

    public static PeerDescription peer(PeerLink... links) {
        return new PeerDescription(OptionalInt.empty(), List.of(links));
    }

    public static PeerDescription node(int index, PeerLink... links) {
        return new PeerDescription(OptionalInt.of(index), List.of(links));
    }

    public static RoutingTable table(LocalLink... links) {
        return new RoutingTable(List.of(links), NO_ROUTES, Map.of(), List.of());
    }

    public static HostInterface up(String name, int index, String... addresses) {
        return new HostInterface(name, index, true, name.equals("lo"), parse(addresses), 25_000);
    }

    public static HostInterface up(String name, int index, int speedMbps, String... addresses) {
        return new HostInterface(name, index, true, false, parse(addresses), speedMbps);
    }

    public static HostInterface down(String name, int index, String... addresses) {
        return new HostInterface(name, index, false, false, parse(addresses), 25_000);
    }

    public static HostInterfaces interfaces(HostInterface... interfaces) {
        return new HostInterfaces(List.of(interfaces));
    }

    /** With those of them that lead to containers of this machine. */
    public static HostInterfaces interfaces(Set<String> inner, HostInterface... interfaces) {
        return new HostInterfaces(List.of(interfaces), new InnerInterfaces(inner, Set.of()), Map.of());
    }

    /** An Ethernet port whose GID table is as SoftRoCE's: a link-local entry first, then the addresses. */
    public static RdmaPort roce(String device, int interfaceIndex, String... addresses) {
        return roce(device, port(PortState.ACTIVE, LinkLayer.ETHERNET), interfaceIndex, addresses);
    }

    public static RdmaPort roce(String device, PortAttributes port, int interfaceIndex, String... addresses) {
        List<GidEntry> table = new ArrayList<>();
        table.add(gid(0, "fe80::" + interfaceIndex, GidEntry.Type.ROCE_V2, interfaceIndex));
        for (String address : addresses) {
            table.add(gid(table.size(), address, GidEntry.Type.ROCE_V1, interfaceIndex));
            table.add(gid(table.size(), address, GidEntry.Type.ROCE_V2, interfaceIndex));
        }
        return new RdmaPort(device, 1, port, table);
    }

    public static GidEntry gid(int index, String address, GidEntry.Type type, int interfaceIndex) {
        return new GidEntry(index, Gid.of(address(address)), type, interfaceIndex);
    }

    public static PortAttributes port(PortState state, LinkLayer layer) {
        return new PortAttributes(state, Mtu.MTU_4096, 1L << 30, 0, layer, 100_000);
    }

    public static PluginConfig config(LinkPolicy policy) {
        return PluginConfig.of(links(policy));
    }

    /** With one more setting. */
    public static <T> PluginConfig config(LinkPolicy policy, SettingKey<T> key, T value) {
        return PluginConfig.of(links(policy).with(key, value, LINE));
    }

    /** Node {@code a}, which has these NICs; {@code b} is the other node. */
    public static PluginConfig config(LinkPolicy policy, Map<Integer, NicReference> peers, NicConfig... nics) {
        NodeConfig a = new NodeConfig("a", 0, List.of(nics), LINE);
        return config(policy, peers, a, new NodeConfig("b", 1, List.of(nic("x", "")), LINE));
    }

    /** Node {@code a} beside another one. */
    public static PluginConfig config(LinkPolicy policy, Map<Integer, NicReference> peers, NodeConfig a, NodeConfig b) {
        return new PluginConfig(
                Optional.of(FILE),
                1,
                links(policy),
                Optional.of(new ClusterConfig(List.of(a, b), List.of(peers, Map.of()))),
                Optional.of(new Setting<>(a, LINE)),
                Optional.empty(),
                List.of());
    }

    private static SettingValues links(LinkPolicy policy) {
        return SettingValues.DEFAULTS.with(Settings.LINKS, policy, Source.DEFAULT);
    }

    /** A NIC as listed in a file; empty texts are left out. */
    public static NicConfig nic(String device, String address) {
        return new NicConfig(
                Optional.of(device).filter(text -> !text.isEmpty()),
                Optional.of(address).filter(text -> !text.isEmpty()).map(InterfaceAddress::parse),
                OptionalInt.empty(),
                LINE);
    }

    private static List<InterfaceAddress> parse(String... addresses) {
        return List.of(addresses).stream().map(InterfaceAddress::parse).toList();
    }
}
