package trigon.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.ClusterKey;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NicReference;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.FailoverPolicy;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.SettingKey;
import trigon.config.setting.SettingValues;
import trigon.config.setting.Source;

/**
 * The effective settings of this process. Immutable.
 *
 * @param file the configuration file; empty if there is none
 * @param fingerprint of the file's bytes, to be compared with a peer's; 0 without one
 * @param settings the values of the table of {@link Settings}
 * @param cluster the nodes; empty: links are found on the machine and matched by subnet
 * @param ownNode which of the nodes this process is on, and what said so; present if the cluster is
 * @param clusterKey the content of {@link Settings#CLUSTER_KEY_FILE}; empty if there is none
 * @param unknownVariables variables that look like settings and are none; a warning each
 */
public record PluginConfig(
        Optional<Path> file,
        int fingerprint,
        SettingValues settings,
        Optional<ClusterConfig> cluster,
        Optional<Setting<NodeConfig>> ownNode,
        Optional<ClusterKey> clusterKey,
        List<UnknownVariable> unknownVariables) {

    public PluginConfig {
        unknownVariables = List.copyOf(unknownVariables);
        if (cluster.isPresent() != ownNode.isPresent()) {
            throw new IllegalArgumentException("a cluster file needs the name of this node, and the reverse");
        }
    }

    /** Makes a configuration of these settings alone, without a file. */
    public static PluginConfig of(SettingValues settings) {
        return new PluginConfig(
                Optional.empty(), 0, settings, Optional.empty(), Optional.empty(), Optional.empty(), List.of());
    }

    /** Defaults and these links. */
    public static PluginConfig withoutFile(Setting<LinkPolicy> links) {
        return of(SettingValues.DEFAULTS.with(Settings.LINKS, links.value(), links.source()));
    }

    /** The value of a setting. */
    public <T> T value(SettingKey<T> key) {
        return settings.get(key).value();
    }

    /** Returns where a setting was set. */
    public Source sourceOf(SettingKey<?> key) {
        return settings.get(key).source();
    }

    /** Returns what may carry data. */
    public Setting<LinkPolicy> links() {
        return settings.get(Settings.LINKS);
    }

    /** Attributes of the queue pairs. */
    public QueuePairConfig queuePair() {
        return QueuePairConfig.of(settings);
    }

    /**
     * The same for queue pairs of RDMA links: where connections go on over other paths, and neither timeout nor retry
     * count is set, they give up soon, after one to two seconds.
     */
    public QueuePairConfig rdmaQueuePair() {
        boolean defaults = sourceOf(Settings.TIMEOUT).equals(Source.DEFAULT)
                && sourceOf(Settings.RETRY_COUNT).equals(Source.DEFAULT);
        return value(Settings.FAILOVER) == FailoverPolicy.ON && defaults
                ? queuePair().givingUpSoon()
                : queuePair();
    }

    /** Limits of the exchange that connects two ends. */
    public HandshakeConfig handshake() {
        return HandshakeConfig.of(settings, clusterKey);
    }

    /** Returns how many queue pairs a connection has, and over which links. */
    public StripeConfig stripes() {
        return StripeConfig.of(settings);
    }

    /** Returns the node that this process is on; present if the cluster is. */
    public Optional<NodeConfig> thisNode() {
        return ownNode.map(Setting::value);
    }

    /** The NICs that the file prescribes on this node, by the peer's index; others are left to the addresses. */
    public Map<Integer, NicReference> nicsForPeers() {
        return cluster.map(nodes -> nodes.peers().get(thisNode().orElseThrow().index()))
                .orElse(Map.of());
    }

    /** The effective configuration with its sources, a line for each setting. */
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        lines.add(file.map(path -> "file: %s, fingerprint 0x%08x".formatted(path, fingerprint))
                .orElse("file: none (" + Settings.CONFIG + " is not set)"));
        ownNode.ifPresent(
                node -> lines.add("this node: %s (%s)".formatted(node.value().name(), node.source())));
        cluster.ifPresent(nodes -> describe(nodes, lines));
        for (SettingKey<?> key : Settings.all()) {
            if (key.fileKey().isPresent()) {
                lines.add(key + ": " + describe(key));
            }
        }
        return List.copyOf(lines);
    }

    private String describe(SettingKey<?> key) {
        return key.equals(Settings.CLUSTER_KEY_FILE) && clusterKey.isPresent()
                ? "%s (%s)".formatted(clusterKey.get(), sourceOf(key))
                : settings.describe(key);
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
