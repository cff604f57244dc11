package trigon.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The effective settings of this process. Immutable.
 *
 * @param file the configuration file; empty if there is none
 * @param fingerprint of the file's bytes, to be compared with a peer's; 0 without a file
 * @param links what may carry data
 * @param cluster the nodes; empty: links are found on the machine and matched by subnet
 * @param thisNode which of the nodes this process is on; present if the cluster is
 * @param queuePair attributes of the queue pairs
 * @param handshake limits of the exchange that connects two ends
 * @param stripes how many queue pairs a connection has, and over which links
 * @param sources where single keys were set, by dotted path; see {@link #sourceOf}
 */
public record PluginConfig(
        Optional<Path> file,
        int fingerprint,
        Setting<LinkPolicy> links,
        Optional<ClusterConfig> cluster,
        Optional<NodeConfig> thisNode,
        QueuePairConfig queuePair,
        HandshakeConfig handshake,
        StripeConfig stripes,
        Map<String, Source> sources) {

    static final String THIS_NODE = "thisNode";
    static final String PEER_TIMEOUT = "handshake.peerTimeout";
    static final String CLUSTER_KEY_FILE = "handshake.clusterKeyFile";
    static final String STRIPE_LINKS = "stripes.links";
    static final String QUEUE_PAIRS_PER_LINK = "stripes.queuePairsPerLink";

    public PluginConfig {
        sources = Map.copyOf(sources);
        if (cluster.isPresent() != thisNode.isPresent()) {
            throw new IllegalArgumentException("a cluster and which of its nodes this is go together");
        }
    }

    /** Defaults and these links. */
    public static PluginConfig withoutFile(Setting<LinkPolicy> links) {
        return withoutFile(links, HandshakeConfig.DEFAULT, StripeConfig.DEFAULT, Map.of());
    }

    static PluginConfig withoutFile(
            Setting<LinkPolicy> links, HandshakeConfig handshake, StripeConfig stripes, Map<String, Source> sources) {
        return new PluginConfig(
                Optional.empty(),
                0,
                links,
                Optional.empty(),
                Optional.empty(),
                QueuePairConfig.DEFAULT,
                handshake,
                stripes,
                sources);
    }

    /** The NIC that the file prescribes on this node for a peer; empty if it leaves that to the addresses. */
    public Optional<NicReference> nicForPeer(int peerNodeIndex) {
        return Optional.ofNullable(nicsForPeers().get(peerNodeIndex));
    }

    /** All the NICs that the file prescribes on this node, by the peer's index. */
    public Map<Integer, NicReference> nicsForPeers() {
        return cluster.map(nodes -> nodes.peers().get(thisNode.orElseThrow().index()))
                .orElse(Map.of());
    }

    /** Where a key of {@code queuePair}, {@code handshake} or {@code stripes} was set, for example {@code handshake.timeout}. */
    public Source sourceOf(String key) {
        return sources.getOrDefault(key, Source.DEFAULT);
    }

    /** The effective configuration with its sources, a line for each setting. */
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        lines.add(file.map(path -> "file: %s, fingerprint 0x%08x".formatted(path, fingerprint))
                .orElse("file: none (" + ConfigLoader.CONFIG + " is not set)"));
        lines.add("links: " + links);
        thisNode.ifPresent(node -> lines.add("this node: %s (%s)".formatted(node.name(), sourceOf(THIS_NODE))));
        cluster.ifPresent(nodes -> describe(nodes, lines));
        for (QueuePairKey key : QueuePairKey.values()) {
            String path = "queuePair." + key.key();
            lines.add("%s: %s (%s)".formatted(path, queuePair.valueText(key), sourceOf(path)));
        }
        lines.add("handshake.timeout: %d ms (%s)"
                .formatted(handshake.timeout().toMillis(), sourceOf("handshake.timeout")));
        lines.add("handshake.port: %s (%s)"
                .formatted(handshake.port() == 0 ? "any free" : handshake.port(), sourceOf("handshake.port")));
        lines.add(
                "%s: %d ms (%s)".formatted(PEER_TIMEOUT, handshake.peerTimeout().toMillis(), sourceOf(PEER_TIMEOUT)));
        lines.add("%s: %s (%s)"
                .formatted(
                        CLUSTER_KEY_FILE,
                        handshake.clusterKey().map(ClusterKey::toString).orElse("none"),
                        sourceOf(CLUSTER_KEY_FILE)));
        lines.add("%s: %s (%s)".formatted(STRIPE_LINKS, stripes.links(), sourceOf(STRIPE_LINKS)));
        lines.add("%s: %d (%s)"
                .formatted(QUEUE_PAIRS_PER_LINK, stripes.queuePairsPerLink(), sourceOf(QUEUE_PAIRS_PER_LINK)));
        return List.copyOf(lines);
    }

    private static void describe(ClusterConfig cluster, List<String> lines) {
        for (NodeConfig node : cluster.nodes()) {
            String nics = String.join(
                    ", ", node.nics().stream().map(NicConfig::toString).toList());
            lines.add("nodes.%s.nics: %s (%s)".formatted(node.name(), nics, node.source()));
        }
        for (NodeConfig node : cluster.nodes()) {
            cluster.peers().get(node.index()).entrySet().stream()
                    .sorted(Map.Entry.comparingByKey())
                    .forEach(entry -> lines.add("peers.%s.%s: %s (%s)"
                            .formatted(
                                    node.name(),
                                    cluster.nodes().get(entry.getKey()).name(),
                                    entry.getValue(),
                                    entry.getValue().source())));
        }
    }
}
