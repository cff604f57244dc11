package trigon.config.file;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NicReference;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.Excerpt;
import trigon.system.InterfaceAddress;
import trigon.system.NearestName;

/** Reads {@code nodes} and {@code peers}, and checks what can be checked without knowing the machines. */
final class ClusterDecoder {

    private static final Pattern NODE_NAME = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]{0,252})");
    private static final Pattern DEVICE_NAME = Pattern.compile("[\\x21-\\x7E&&[^/]]{1,63}");
    private static final Pattern ADDRESS_LIKE = Pattern.compile("[0-9.]+|.*[:/].*");
    private static final String NICS_RULE =
            "must be a list of one NIC or more, such as [{device: mlx5_0, address: 10.0.12.1/24}]";

    private final Map<InetAddress, FileValue> addresses = new HashMap<>();

    /**
     * Reads the cluster.
     *
     * @param peers null if the file has none
     */
    static ClusterConfig decode(FileValue nodes, @Nullable FileValue peers) {
        List<NodeConfig> decoded = new ClusterDecoder().nodes(nodes);
        return new ClusterConfig(decoded, peers(peers, decoded));
    }

    private List<NodeConfig> nodes(FileValue value) {
        String rule = "must be a mapping of one host name or more, such as a: {nics: [{address: 10.0.12.1/24}]}";
        List<NodeConfig> nodes = new ArrayList<>();
        for (Map.Entry<String, FileValue> entry : value.entries(rule).entrySet()) {
            if (!NODE_NAME.matcher(entry.getKey()).matches()) {
                throw entry.getValue().bad("a node's name is made of letters, digits, dots, hyphens, underscores");
            }
            nodes.add(node(entry.getKey(), nodes.size(), entry.getValue()));
        }
        if (nodes.isEmpty()) {
            throw value.bad(rule);
        }
        return nodes;
    }

    private NodeConfig node(String name, int index, FileValue value) {
        FileValue list = value.entriesOf(List.of("nics")).get("nics");
        if (list == null) {
            throw value.bad("its nics are missing");
        }
        SequencedMap<NicConfig, FileValue> nics = new LinkedHashMap<>();
        for (FileValue item : list.items(NICS_RULE)) {
            NicConfig nic = nic(item);
            for (NicConfig other : nics.keySet()) {
                // a device may be there several times only to list several of its addresses
                if (other.device().isPresent()
                        && other.device().equals(nic.device())
                        && (other.address().isEmpty() || nic.address().isEmpty())) {
                    throw item.bad("the NIC %s is there already (%s); list it again only with a different address"
                            .formatted(nic.device().orElseThrow(), other.source()));
                }
            }
            nics.put(nic, item);
        }
        if (nics.isEmpty()) {
            throw list.bad(NICS_RULE);
        }
        return new NodeConfig(name, index, List.copyOf(nics.sequencedKeySet()), value.source());
    }

    private NicConfig nic(FileValue value) {
        Map<String, FileValue> entries = value.entriesOf(List.of("device", "address", "speedMbps"));
        FileValue device = entries.get("device");
        FileValue address = entries.get("address");
        FileValue speed = entries.get("speedMbps");
        if (device == null && address == null) {
            throw value.bad("a NIC needs a device, an address, or both");
        }
        return new NicConfig(
                Optional.ofNullable(device).map(ClusterDecoder::deviceName),
                Optional.ofNullable(address).map(this::address),
                speed == null ? OptionalInt.empty() : OptionalInt.of(speed.value(NicConfig.SPEED_MBPS)),
                value.source());
    }

    private static String deviceName(FileValue value) {
        String rule = "must be the name of an RDMA device or a network interface";
        String name = value.text(rule);
        if (!DEVICE_NAME.matcher(name).matches()) {
            throw value.bad(rule);
        }
        return name;
    }

    private InterfaceAddress address(FileValue value) {
        InterfaceAddress address;
        try {
            address = InterfaceAddress.parse(value.text("must be an address with its prefix, such as 10.0.12.1/24"));
        } catch (IllegalArgumentException e) {
            throw value.bad(e);
        }
        address.flaw().ifPresent(flaw -> {
            throw value.bad(flaw);
        });
        FileValue earlier = addresses.putIfAbsent(address.address(), value);
        if (earlier != null) {
            throw value.bad("that address is %s already (%s)".formatted(earlier.key(), earlier.source()));
        }
        return address;
    }

    private static List<Map<Integer, NicReference>> peers(@Nullable FileValue value, List<NodeConfig> nodes) {
        List<Map<Integer, NicReference>> peers = new ArrayList<>();
        nodes.forEach(_ -> peers.add(new HashMap<>()));
        if (value == null) {
            return peers;
        }
        String rule = "must be a mapping such as a: {b: mlx5_0}: on node a, peer b is reached through mlx5_0";
        for (Map.Entry<String, FileValue> from : value.entries(rule).entrySet()) {
            NodeConfig node = known(from.getKey(), from.getValue(), nodes);
            for (Map.Entry<String, FileValue> to : from.getValue().entries(rule).entrySet()) {
                NodeConfig peer = known(to.getKey(), to.getValue(), nodes);
                peers.get(node.index()).put(peer.index(), reference(to.getValue(), node));
            }
        }
        return peers;
    }

    private static NodeConfig known(String name, FileValue value, List<NodeConfig> nodes) {
        List<String> names = nodes.stream().map(NodeConfig::name).toList();
        int index = names.indexOf(name);
        if (index < 0) {
            throw value.bad("there is no node %s; the nodes are %s%s"
                    .formatted(
                            Excerpt.quoted(name),
                            String.join(", ", names),
                            NearestName.to(name, names)
                                    .map(n -> "; did you mean " + n + "?")
                                    .orElse("")));
        }
        return nodes.get(index);
    }

    private static NicReference reference(FileValue value, NodeConfig node) {
        String rule = "must be a device, an interface or an address of a NIC of node %s: %s"
                .formatted(
                        node.name(),
                        String.join(
                                ", ",
                                node.nics().stream().map(NicConfig::toString).toList()));
        String text = value.text(rule);
        if (!ADDRESS_LIKE.matcher(text).matches()) {
            if (!DEVICE_NAME.matcher(text).matches()) {
                throw value.bad(rule);
            }
            // may name the interface of a NIC that is listed by device or address: only that machine can tell
            return new NicReference.ByName(text, value.source());
        }
        InetAddress address;
        try {
            address = text.contains("/") ? InterfaceAddress.parse(text).address() : InterfaceAddress.parseAddress(text);
        } catch (IllegalArgumentException e) {
            throw value.bad(e);
        }
        boolean possible = node.nics().stream()
                .anyMatch(nic -> nic.address().isEmpty()
                        || nic.address().orElseThrow().address().equals(address));
        if (!possible) {
            throw value.bad(rule);
        }
        return new NicReference.ByAddress(address, value.source());
    }
}
