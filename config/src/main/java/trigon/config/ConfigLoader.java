package trigon.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Puts the settings together: defaults, then the file, then environment variables.
 *
 * <p>Stateless. Reads the file once, and no YAML library is loaded when there is none.
 */
public final class ConfigLoader {

    /** Path of the file; unset or empty: there is none. */
    public static final String CONFIG = "TRIGON_CONFIG";

    /** Name of this process's node among the file's; unset or empty: the host name. */
    public static final String NODE = "TRIGON_NODE";

    /** Overrides {@code links} of the file. */
    public static final String LINKS = "TRIGON_LINKS";

    /** Path of the cluster's key; overrides {@code handshake.clusterKeyFile} of the file. */
    public static final String CLUSTER_KEY_FILE = "TRIGON_CLUSTER_KEY_FILE";

    /** How long a connected peer may be silent; overrides {@code handshake.peerTimeout} of the file. */
    public static final String PEER_TIMEOUT = "TRIGON_PEER_TIMEOUT";

    /** Over which links a connection goes; overrides {@code stripes.links} of the file. */
    public static final String STRIPES = "TRIGON_STRIPES";

    /** Queue pairs of a connection on each link; overrides {@code stripes.queuePairsPerLink} of the file. */
    public static final String QUEUE_PAIRS_PER_LINK = "TRIGON_QUEUE_PAIRS_PER_LINK";

    private ConfigLoader() {}

    /**
     * Loads the settings.
     *
     * @param environment the process's environment variables
     * @param hostName the machine's name, with or without domain
     * @throws ConfigException if anything in the file or the variables is wrong
     */
    public static PluginConfig load(Map<String, String> environment, String hostName) {
        Optional<Setting<LinkPolicy>> links = variable(environment, LINKS).map(ConfigLoader::linksOfEnvironment);
        Optional<Setting<Path>> keyFile =
                variable(environment, CLUSTER_KEY_FILE).map(ConfigLoader::keyFileOfEnvironment);
        Optional<Setting<Duration>> peerTimeout =
                variable(environment, PEER_TIMEOUT).map(ConfigLoader::peerTimeoutOfEnvironment);
        Optional<Setting<StripePolicy>> stripes =
                variable(environment, STRIPES).map(ConfigLoader::stripesOfEnvironment);
        Optional<Setting<Integer>> queuePairs =
                variable(environment, QUEUE_PAIRS_PER_LINK).map(ConfigLoader::queuePairsOfEnvironment);
        Map<String, Source> ofEnvironment = sources(Map.of(
                PluginConfig.PEER_TIMEOUT, peerTimeout,
                PluginConfig.STRIPE_LINKS, stripes,
                PluginConfig.QUEUE_PAIRS_PER_LINK, queuePairs));
        Optional<String> path = variable(environment, CONFIG);
        if (path.isEmpty()) {
            return PluginConfig.withoutFile(
                    links.orElse(Setting.ofDefault(LinkPolicy.AUTO)),
                    with(HandshakeConfig.DEFAULT, peerTimeout).with(key(keyFile)),
                    with(StripeConfig.DEFAULT, stripes, queuePairs),
                    withSource(ofEnvironment, PluginConfig.CLUSTER_KEY_FILE, keyFile));
        }
        ConfigFile file = ConfigFile.read(path.get());
        SettingsDecoder.Decoded decoded = SettingsDecoder.decode(file);
        Optional<Setting<NodeConfig>> node =
                decoded.cluster().map(cluster -> thisNode(cluster, variable(environment, NODE), hostName, file));
        Optional<Setting<Path>> usedKeyFile = keyFile.or(decoded::clusterKeyFile);
        return new PluginConfig(
                Optional.of(file.path()),
                file.fingerprint(),
                links.orElse(decoded.links()),
                decoded.cluster(),
                node.map(Setting::value),
                decoded.queuePair(),
                with(decoded.handshake(), peerTimeout).with(key(usedKeyFile)),
                with(decoded.stripes(), stripes, queuePairs),
                merged(
                        withSource(
                                withSource(decoded.sources(), PluginConfig.THIS_NODE, node),
                                PluginConfig.CLUSTER_KEY_FILE,
                                usedKeyFile),
                        ofEnvironment));
    }

    private static StripeConfig with(
            StripeConfig config, Optional<Setting<StripePolicy>> links, Optional<Setting<Integer>> queuePairs) {
        StripeConfig overLinks = links.map(set -> config.with(set.value())).orElse(config);
        return queuePairs.map(set -> overLinks.with(set.value())).orElse(overLinks);
    }

    private static Setting<StripePolicy> stripesOfEnvironment(String word) {
        StripePolicy policy = StripePolicy.ofWord(word)
                .orElseThrow(() -> new ConfigException("the environment variable " + STRIPES + " is "
                        + Excerpt.quoted(word) + ": must be one of " + StripePolicy.words()));
        return new Setting<>(policy, new Source.Environment(STRIPES));
    }

    private static Setting<Integer> queuePairsOfEnvironment(String text) {
        if (!text.matches("[1-" + StripeConfig.MOST_QUEUE_PAIRS_PER_LINK + "]")) {
            throw new ConfigException("the environment variable %s is %s: must be a whole number from 1 to %d"
                    .formatted(QUEUE_PAIRS_PER_LINK, Excerpt.quoted(text), StripeConfig.MOST_QUEUE_PAIRS_PER_LINK));
        }
        return new Setting<>(Integer.parseInt(text), new Source.Environment(QUEUE_PAIRS_PER_LINK));
    }

    private static HandshakeConfig with(HandshakeConfig config, Optional<Setting<Duration>> peerTimeout) {
        return peerTimeout.map(set -> config.with(set.value())).orElse(config);
    }

    private static Setting<Duration> peerTimeoutOfEnvironment(String text) {
        Duration silence = Located.duration(
                        text, HandshakeConfig.SHORTEST_PEER_TIMEOUT, HandshakeConfig.LONGEST_PEER_TIMEOUT)
                .orElseThrow(() -> new ConfigException("the environment variable %s is %s: %s"
                        .formatted(
                                PEER_TIMEOUT,
                                Excerpt.quoted(text),
                                Located.durationRule(HandshakeConfig.PEER_TIMEOUT_RANGE))));
        return new Setting<>(silence, new Source.Environment(PEER_TIMEOUT));
    }

    private static Optional<ClusterKey> key(Optional<Setting<Path>> file) {
        return file.map(named -> ClusterKey.read(named.value(), named.source()));
    }

    private static Setting<Path> keyFileOfEnvironment(String text) {
        Path path = absolutePath(text)
                .orElseThrow(() -> new ConfigException("the environment variable " + CLUSTER_KEY_FILE + " is "
                        + Excerpt.quoted(text) + ": must be the absolute path of a file that holds the key"));
        return new Setting<>(path, new Source.Environment(CLUSTER_KEY_FILE));
    }

    /** The path, if it is absolute: what a relative one is relative to would be another question on each node. */
    static Optional<Path> absolutePath(String text) {
        try {
            return Optional.of(Path.of(text)).filter(Path::isAbsolute);
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    private static Setting<LinkPolicy> linksOfEnvironment(String word) {
        LinkPolicy policy = LinkPolicy.ofWord(word)
                .orElseThrow(() -> new ConfigException("the environment variable " + LINKS + " is "
                        + Excerpt.quoted(word) + ": must be one of " + LinkPolicy.words()));
        return new Setting<>(policy, new Source.Environment(LINKS));
    }

    private static Setting<NodeConfig> thisNode(
            ClusterConfig cluster, Optional<String> named, String hostName, ConfigFile file) {
        if (named.isPresent()) {
            NodeConfig node = cluster.node(named.get())
                    .orElseThrow(() -> new ConfigException(
                            "the environment variable %s is %s: no such node is in %s; its nodes are %s"
                                    .formatted(NODE, Excerpt.quoted(named.get()), file.path(), cluster.names())));
            return new Setting<>(node, new Source.Environment(NODE));
        }
        int dot = hostName.indexOf('.');
        String shortName = dot < 0 ? hostName : hostName.substring(0, dot);
        Set<String> names = new LinkedHashSet<>();
        names.add(hostName);
        names.add(shortName);
        for (String name : names) {
            Optional<NodeConfig> node = cluster.node(name);
            if (node.isPresent()) {
                return new Setting<>(node.get(), new Source.HostName(name));
            }
        }
        throw new ConfigException(
                ("this machine is not among the nodes of %s: looked for %s (not set), host name %s, short host name %s;"
                                + " the nodes are %s. Add this machine to the file, or set %s to its name there")
                        .formatted(
                                file.path(),
                                NODE,
                                Excerpt.quoted(hostName),
                                Excerpt.quoted(shortName),
                                cluster.names(),
                                NODE));
    }

    private static Map<String, Source> withSource(
            Map<String, Source> sources, String key, Optional<? extends Setting<?>> setting) {
        Map<String, Source> all = new HashMap<>(sources);
        setting.ifPresent(set -> all.put(key, set.source()));
        return all;
    }

    /** Where those of the settings that are set were set. */
    private static Map<String, Source> sources(Map<String, Optional<? extends Setting<?>>> settings) {
        Map<String, Source> sources = new HashMap<>();
        settings.forEach((key, setting) -> setting.ifPresent(set -> sources.put(key, set.source())));
        return sources;
    }

    private static Map<String, Source> merged(Map<String, Source> sources, Map<String, Source> preferred) {
        Map<String, Source> all = new HashMap<>(sources);
        all.putAll(preferred);
        return all;
    }

    private static Optional<String> variable(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
    }
}
