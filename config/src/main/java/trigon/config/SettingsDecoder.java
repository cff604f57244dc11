package trigon.config;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads a whole file. Remembers in {@link #sources} where each key was set. */
final class SettingsDecoder {

    private static final String VERSION = "version";
    private static final String LINKS = "links";
    private static final String NODES = "nodes";
    private static final String PEERS = "peers";
    private static final String QUEUE_PAIR = "queuePair";
    private static final String HANDSHAKE = "handshake";
    private static final String STRIPES = "stripes";
    private static final List<String> KEYS = List.of(VERSION, LINKS, NODES, PEERS, QUEUE_PAIR, HANDSHAKE, STRIPES);
    private static final int KNOWN_VERSION = 1;

    private final Map<String, Source> sources = new HashMap<>();
    private Optional<Setting<Path>> clusterKeyFile = Optional.empty();

    /**
     * What a file says.
     *
     * @param handshake without the cluster's key, whose file is not read here
     * @param clusterKeyFile where that key is
     * @param sources where each key was set, by dotted path; a key that is not in it has its default
     */
    record Decoded(
            Setting<LinkPolicy> links,
            Optional<ClusterConfig> cluster,
            QueuePairConfig queuePair,
            HandshakeConfig handshake,
            StripeConfig stripes,
            Optional<Setting<Path>> clusterKeyFile,
            Map<String, Source> sources) {}

    static Decoded decode(ConfigFile file) {
        YamlNode root = YamlReader.read(file.path(), file.text());
        return new SettingsDecoder().decode(new Located(file.path(), "", root.line(), root));
    }

    private Decoded decode(Located root) {
        // the version comes first: another one may have other keys
        Located version =
                root.entries("must be a mapping that begins with version: 1").get(VERSION);
        if (version == null) {
            throw root.bad("its version is missing: it must begin with version: 1");
        }
        version.only(KNOWN_VERSION);
        Map<String, Located> entries = root.entriesOf(KEYS);
        Located links = entries.get(LINKS);
        Located nodes = entries.get(NODES);
        Located peers = entries.get(PEERS);
        Located queuePair = entries.get(QUEUE_PAIR);
        Located handshake = entries.get(HANDSHAKE);
        Located stripes = entries.get(STRIPES);
        if (nodes == null && peers != null) {
            throw peers.bad("it needs the nodes it speaks of: add nodes");
        }
        HandshakeConfig decodedHandshake = handshake == null ? HandshakeConfig.DEFAULT : handshake(handshake);
        return new Decoded(
                links == null ? Setting.ofDefault(LinkPolicy.AUTO) : links(links),
                nodes == null ? Optional.empty() : Optional.of(ClusterDecoder.decode(nodes, peers)),
                queuePair == null ? QueuePairConfig.DEFAULT : queuePair(queuePair),
                decodedHandshake,
                stripes == null ? StripeConfig.DEFAULT : stripes(stripes),
                clusterKeyFile,
                Map.copyOf(sources));
    }

    private static Setting<LinkPolicy> links(Located value) {
        String rule = "must be one of " + LinkPolicy.words();
        return new Setting<>(LinkPolicy.ofWord(value.text(rule)).orElseThrow(() -> value.bad(rule)), value.source());
    }

    private QueuePairConfig queuePair(Located value) {
        Map<String, Located> entries = value.entriesOf(
                Arrays.stream(QueuePairKey.values()).map(QueuePairKey::key).toList());
        QueuePairConfig defaults = QueuePairConfig.DEFAULT;
        return new QueuePairConfig(
                optional(entries, QueuePairKey.GID_INDEX),
                optional(entries, QueuePairKey.PORT),
                optional(entries, QueuePairKey.TRAFFIC_CLASS),
                optional(entries, QueuePairKey.SERVICE_LEVEL).orElse(defaults.serviceLevel()),
                optional(entries, QueuePairKey.TIMEOUT).orElse(defaults.timeout()),
                optional(entries, QueuePairKey.RETRY_COUNT).orElse(defaults.retryCount()),
                optional(entries, QueuePairKey.RNR_RETRY).orElse(defaults.rnrRetry()),
                optional(entries, QueuePairKey.MIN_RNR_TIMER).orElse(defaults.minRnrTimer()));
    }

    private OptionalInt optional(Map<String, Located> entries, QueuePairKey key) {
        Located value = entries.get(key.key());
        return value == null ? OptionalInt.empty() : OptionalInt.of(noted(value).integer(key.least(), key.most()));
    }

    private HandshakeConfig handshake(Located value) {
        Map<String, Located> entries = value.entriesOf(List.of("timeout", "port", "peerTimeout", "clusterKeyFile"));
        Located timeout = entries.get("timeout");
        Located port = entries.get("port");
        Located peerTimeout = entries.get("peerTimeout");
        Located keyFile = entries.get("clusterKeyFile");
        if (keyFile != null) {
            String rule = "must be the absolute path of a file that holds the key, the same on all nodes";
            clusterKeyFile = Optional.of(new Setting<>(
                    ConfigLoader.absolutePath(noted(keyFile).text(rule)).orElseThrow(() -> keyFile.bad(rule)),
                    keyFile.source()));
        }
        HandshakeConfig config = new HandshakeConfig(
                timeout == null
                        ? HandshakeConfig.DEFAULT.timeout()
                        : noted(timeout)
                                .duration(
                                        HandshakeConfig.SHORTEST_TIMEOUT,
                                        HandshakeConfig.LONGEST_TIMEOUT,
                                        "100ms to 1h"),
                port == null ? HandshakeConfig.DEFAULT.port() : noted(port).integer(0, HandshakeConfig.GREATEST_PORT));
        return peerTimeout == null
                ? config
                : config.with(noted(peerTimeout)
                        .duration(
                                HandshakeConfig.SHORTEST_PEER_TIMEOUT,
                                HandshakeConfig.LONGEST_PEER_TIMEOUT,
                                HandshakeConfig.PEER_TIMEOUT_RANGE));
    }

    private StripeConfig stripes(Located value) {
        Map<String, Located> entries = value.entriesOf(List.of("links", "queuePairsPerLink"));
        Located links = entries.get("links");
        Located queuePairs = entries.get("queuePairsPerLink");
        StripeConfig config = StripeConfig.DEFAULT;
        if (links != null) {
            String rule = "must be one of " + StripePolicy.words();
            config = config.with(StripePolicy.ofWord(noted(links).text(rule)).orElseThrow(() -> links.bad(rule)));
        }
        return queuePairs == null
                ? config
                : config.with(noted(queuePairs).integer(1, StripeConfig.MOST_QUEUE_PAIRS_PER_LINK));
    }

    private Located noted(Located value) {
        sources.put(value.key(), value.source());
        return value;
    }
}
