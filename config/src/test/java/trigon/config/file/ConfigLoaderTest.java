package trigon.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.config.HandshakeConfig;
import trigon.config.PluginConfig;
import trigon.config.QueuePairConfig;
import trigon.config.Settings;
import trigon.config.StripeConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.Source;
import trigon.config.setting.StripePolicy;
import trigon.config.setting.ValueType;
import trigon.system.PortRange;

class ConfigLoaderTest {

    private static final String NODES = """
            version: 1
            nodes:
              a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {address: 10.0.13.1/24}]}
              b: {nics: [{address: 10.0.12.2/24}]}
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void hasDefaultsWithoutFile() {
        PluginConfig config = ConfigLoader.load(Map.of(), "a");

        assertThat(config.links()).isEqualTo(new Setting<>(LinkPolicy.AUTO, Source.DEFAULT));
        assertThat(config.cluster()).isEmpty();
        assertThat(config.thisNode()).isEmpty();
        assertThat(config.nicsForPeers()).isEmpty();
        assertThat(config.queuePair()).isEqualTo(QueuePairConfig.DEFAULT);
        assertThat(config.handshake()).isEqualTo(HandshakeConfig.DEFAULT);
        assertThat(config.fingerprint()).isZero();
        assertThat(config.describe())
                .contains("file: none (TRIGON_CONFIG is not set)", "links: auto (default)")
                .contains("queuePair.timeout: 18 (default)", "handshake.timeout: 10s (default)")
                .contains("handshake.peerTimeout: 20s (default)");
    }

    @Test
    void takesEmptyVariablesAsUnset() {
        Map<String, String> environment = Map.of("TRIGON_CONFIG", "", "TRIGON_NODE", "", "TRIGON_LINKS", "");

        assertThat(ConfigLoader.load(environment, "a")).isEqualTo(ConfigLoader.load(Map.of(), "a"));
    }

    @Test
    void readsTheDocumentedExample() {
        Path example = Path.of("..", "docs", "examples", "triangle.yaml");

        PluginConfig config = ConfigLoader.load(Map.of("TRIGON_CONFIG", example.toString()), "c.cluster.example");

        assertThat(config.thisNode().orElseThrow().name()).isEqualTo("c");
        assertThat(config.cluster().orElseThrow().nodes()).hasSize(3);
        assertThat(config.queuePair()).isEqualTo(QueuePairConfig.DEFAULT);
        assertThat(config.handshake()).isEqualTo(HandshakeConfig.DEFAULT);
        assertThat(config.fingerprint()).isNotZero();
    }

    @Test
    void readsEveryKey() {
        PluginConfig config = TestFile.of(directory, NODES + """
                                links: software
                                peers: {a: {b: rxe_ab}, b: {a: 10.0.12.2}}
                                queuePair:
                                  gidIndex: 3
                                  port: 2
                                  trafficClass: 104
                                  serviceLevel: 1
                                  timeout: 14
                                  retryCount: 5
                                  rnrRetry: 0
                                  minRnrTimer: 31
                                ports: 30000-30999
                                handshake: {timeout: 1500ms, peerTimeout: 1m}
                                stripes: {links: all, queuePairsPerLink: 2}
                                """).load();

        NodeConfig a = config.thisNode().orElseThrow();
        assertThat(a.index()).isZero();
        assertThat(a.nics()).map(NicConfig::toString).containsExactly("rxe_ab 10.0.12.1/24", "10.0.13.1/24");
        assertThat(config.links().value()).isEqualTo(LinkPolicy.SOFTWARE);
        assertThat(config.nicsForPeers()).containsOnlyKeys(1);
        assertThat(config.nicsForPeers().get(1)).hasToString("rxe_ab");
        assertThat(config.queuePair())
                .isEqualTo(new QueuePairConfig(
                        OptionalInt.of(3), OptionalInt.of(2), OptionalInt.of(104), 1, 14, 5, 0, 31));
        assertThat(config.handshake())
                .isEqualTo(new HandshakeConfig(
                        Duration.ofMillis(1500),
                        new PortRange(30000, 30999),
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(10),
                        Optional.empty()));
        assertThat(config.stripes()).isEqualTo(new StripeConfig(StripePolicy.ALL, 2));
    }

    /** YAML takes an unquoted "off" for a boolean. */
    @ParameterizedTest
    @ValueSource(strings = {"failover", "lanes", "relay", "oneSided", "gpuMemory", "tuning"})
    void offNeedsNoQuotes(String key) {
        PluginConfig config =
                TestFile.of(directory, "version: 1\n%s: off\n".formatted(key)).load();

        assertThat(config.describe()).anyMatch(line -> line.startsWith(key + ": off ("));
    }

    @Test
    void rdmaQueuePairsGiveUpSoonWithFailoverUnlessTheyAreToldWhen() {
        PluginConfig failover = TestFile.of(directory, NODES + "failover: on\n").load();
        PluginConfig told = TestFile.of(directory, NODES + "failover: on\nqueuePair: {retryCount: 6}\n")
                .load();

        assertThat(failover.rdmaQueuePair().timeout()).isEqualTo(16);
        assertThat(failover.rdmaQueuePair().retryCount()).isEqualTo(3);
        assertThat(failover.queuePair()).isEqualTo(QueuePairConfig.DEFAULT);
        assertThat(told.rdmaQueuePair()).isEqualTo(told.queuePair());
        assertThat(told.rdmaQueuePair().timeout()).isEqualTo(18);
    }

    @Test
    void readsTheSpeedOfANic() {
        PluginConfig config = TestFile.of(
                        directory, NODES.replace("{address: 10.0.13.1/24}", "{address: 10.0.13.1/24, speedMbps: 2500}"))
                .load();

        assertThat(config.thisNode().orElseThrow().nics())
                .map(NicConfig::speedMbps)
                .containsExactly(OptionalInt.empty(), OptionalInt.of(2500));
    }

    @Test
    void theEnvironmentsStripesGoBeforeTheFiles() {
        TestFile file = TestFile.of(directory, NODES + "stripes: {links: all, queuePairsPerLink: 2}\n");
        Map<String, String> environment = Map.of(
                "TRIGON_CONFIG", file.path().toString(),
                "TRIGON_NODE", "a",
                "TRIGON_STRIPES", "one",
                "TRIGON_QUEUE_PAIRS_PER_LINK", "3");

        PluginConfig config = ConfigLoader.load(environment, "elsewhere");

        assertThat(config.stripes()).isEqualTo(new StripeConfig(StripePolicy.ONE, 3));
        assertThat(config.describe())
                .contains("stripes.links: one (TRIGON_STRIPES)")
                .contains("stripes.queuePairsPerLink: 3 (TRIGON_QUEUE_PAIRS_PER_LINK)");
    }

    @ParameterizedTest
    @CsvSource({"auto, true, 8", "auto, false, 1", "one, true, 1", "all, false, 8"})
    void saysHowManyLinksAConnectionGoesOver(String word, boolean rdma, int links) {
        StripePolicy policy = Settings.STRIPE_LINKS.type().parse(word).orElseThrow();

        assertThat(new StripeConfig(policy, 1).mostLinks(rdma, 8)).isEqualTo(links);
        assertThat(new StripeConfig(policy, 4).mostLinks(rdma, 8)).isEqualTo(Math.ceilDiv(links, 4));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "TRIGON_STRIPES | both | must be one of auto, one, all",
                "TRIGON_QUEUE_PAIRS_PER_LINK | 0 | must be a whole number from 1 to 4",
                "TRIGON_QUEUE_PAIRS_PER_LINK | two | must be a whole number from 1 to 4",
            })
    void refusesBadStripesOfTheEnvironment(String variable, String value, String rule) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ConfigLoader.load(Map.of(variable, value), "a"))
                .withMessageContainingAll(variable, value, rule);
    }

    @Test
    void remembersWhereEachValueWasSet() {
        TestFile file =
                TestFile.of(directory, NODES + "links: rdma\nqueuePair:\n  timeout: 14\npeers: {a: {b: rxe_ab}}\n");
        Map<String, String> environment =
                Map.of("TRIGON_CONFIG", file.path().toString(), "TRIGON_LINKS", "software", "TRIGON_NODE", "a");

        PluginConfig config = ConfigLoader.load(environment, "elsewhere");

        assertThat(file.load().links()).isEqualTo(new Setting<>(LinkPolicy.RDMA, new Source.File(file.path(), 5)));
        assertThat(config.links())
                .isEqualTo(new Setting<>(LinkPolicy.SOFTWARE, new Source.Environment("TRIGON_LINKS")));
        assertThat(config.sourceOf(Settings.TIMEOUT)).isEqualTo(new Source.File(file.path(), 7));
        assertThat(config.sourceOf(Settings.RNR_RETRY)).isEqualTo(Source.DEFAULT);
        assertThat(config.describe())
                .contains("links: software (TRIGON_LINKS)", "this node: a (TRIGON_NODE)")
                .contains("nodes.a.nics: rxe_ab 10.0.12.1/24, 10.0.13.1/24 (%s:3)".formatted(file.path()))
                .contains("peers.a.b: rxe_ab (%s:8)".formatted(file.path()))
                .contains("queuePair.timeout: 14 (%s:7)".formatted(file.path()))
                .contains("queuePair.gidIndex: by address and type (default)")
                .allSatisfy(line -> assertThat(line).doesNotContain("\n"));
    }

    @Test
    void acceptsFileWithoutNodes() {
        PluginConfig config =
                TestFile.of(directory, "version: 1\nlinks: software\n").load();

        assertThat(config.cluster()).isEmpty();
        assertThat(config.links().value()).isEqualTo(LinkPolicy.SOFTWARE);
    }

    @Test
    void acceptsIpv6InFlowStyle() {
        PluginConfig config = TestFile.of(
                        directory, "version: 1\nnodes: {a: {nics: [{address: fd00:12::1/64}, {device: mlx5_0}]}}\n")
                .load();

        assertThat(config.thisNode().orElseThrow().nics())
                .map(NicConfig::toString)
                .containsExactly("fd00:12::1/64", "mlx5_0");
    }

    @Test
    void fingerprintChangesWithTheBytes() {
        int one = TestFile.of(directory, NODES).load().fingerprint();
        int same = TestFile.of(directory, NODES).load().fingerprint();
        int other = TestFile.of(directory, NODES + "# comment\n").load().fingerprint();

        assertThat(one).isEqualTo(same).isNotZero().isNotEqualTo(other);
    }

    @ParameterizedTest
    @CsvSource({"a, a", "a.cluster.example, a", "b, b"})
    void findsThisNodeByHostName(String hostName, String node) {
        TestFile file = TestFile.of(directory, NODES);

        assertThat(ConfigLoader.load(Map.of("TRIGON_CONFIG", file.path().toString()), hostName)
                        .thisNode()
                        .orElseThrow()
                        .name())
                .isEqualTo(node);
    }

    @Test
    void prefersTheFullHostName() {
        TestFile file = TestFile.of(
                directory, "version: 1\nnodes: {a: {nics: [{device: x}]}, a.rack2: {nics: [{device: x}]}}\n");

        assertThat(ConfigLoader.load(Map.of("TRIGON_CONFIG", file.path().toString()), "a.rack2")
                        .thisNode()
                        .orElseThrow()
                        .index())
                .isOne();
    }

    @Test
    void namesWhatItLookedForWhenThisHostIsNotAmongTheNodes() {
        TestFile file = TestFile.of(directory, NODES);

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() ->
                        ConfigLoader.load(Map.of("TRIGON_CONFIG", file.path().toString()), "d.cluster.example"))
                .withMessageContainingAll(
                        "TRIGON_NODE (not set)", "\"d.cluster.example\"", "\"d\"", "the nodes are a, b");
    }

    @Test
    void doesNotFallBackToTheHostNameWhenTheNodeIsNamedWrongly() {
        TestFile file = TestFile.of(directory, NODES);
        Map<String, String> environment = Map.of("TRIGON_CONFIG", file.path().toString(), "TRIGON_NODE", "z");

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ConfigLoader.load(environment, "a"))
                .withMessageContainingAll("TRIGON_NODE is \"z\"", "its nodes are a, b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"foo", "RDMA", " auto", "\u0000\n"})
    void rejectsBadLinksVariable(String value) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ConfigLoader.load(Map.of("TRIGON_LINKS", value), "a"))
                .withMessageContainingAll("TRIGON_LINKS is \"", "must be one of auto, rdma, software");
    }

    @Test
    void aStoppedPeerMayBeWaitedForWithoutAnEnd() throws Exception {
        TestFile endless = TestFile.of(directory, "version: 1\nhandshake: {stoppedTimeout: never}\n");
        assertThat(endless.load().handshake().stoppedTimeout()).isEqualTo(ValueType.EndlessTimeSpan.NEVER);
        assertThat(endless.load().describe()).anyMatch(line -> line.startsWith("handshake.stoppedTimeout: never ("));

        TestFile shorter = TestFile.of(directory, "version: 1\nhandshake: {peerTimeout: 1m, stoppedTimeout: 5s}\n");
        assertThat(shorter.load().handshake().stoppedTimeout())
                .as("no less than peerTimeout")
                .isEqualTo(Duration.ofMinutes(1));

        TestFile wrong = TestFile.of(directory, "version: 1\nhandshake: {stoppedTimeout: soon}\n");
        assertThatThrownBy(wrong::load).hasMessageContainingAll("stoppedTimeout", "soon", "from 2s to 24h, or never");
    }

    @Test
    void theEnvironmentsLimitForSilentPeersGoesBeforeTheFiles() {
        TestFile file = TestFile.of(directory, "version: 1\nhandshake: {peerTimeout: 1m}\n");

        PluginConfig config =
                ConfigLoader.load(Map.of("TRIGON_CONFIG", file.path().toString(), "TRIGON_PEER_TIMEOUT", "5s"), "a");

        assertThat(file.load().handshake().peerTimeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(config.handshake().peerTimeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.describe()).contains("handshake.peerTimeout: 5s (TRIGON_PEER_TIMEOUT)");
        assertThat(ConfigLoader.load(Map.of("TRIGON_PEER_TIMEOUT", "1h"), "a")
                        .handshake()
                        .peerTimeout())
                .isEqualTo(Duration.ofHours(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"20", "1s", "61m", "never", "-5s", "\n"})
    void rejectsBadLimitsForSilentPeers(String value) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ConfigLoader.load(Map.of("TRIGON_PEER_TIMEOUT", value), "a"))
                .withMessageContainingAll("TRIGON_PEER_TIMEOUT is \"", "such as 10s", "from 2s to 1h");
    }

    @Test
    void rejectsUnreadableFiles() throws Exception {
        Path tooLong = Files.write(directory.resolve("long.yaml"), new byte[ConfigFile.MAX_BYTES + 1]);
        Path notText = Files.write(directory.resolve("binary.yaml"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});

        assertThat(error(directory.resolve("none.yaml").toString())).contains("none.yaml", "no such file");
        assertThat(error(directory.toString())).contains("not a regular file");
        assertThat(error("/dev/zero")).contains("not a regular file");
        assertThat(error(tooLong.toString())).contains("longer than 1048576 bytes");
        assertThat(error(notText.toString())).contains("not UTF-8");
        assertThat(error("a\u0000b")).contains("TRIGON_CONFIG", "must be a path");
    }

    @Test
    void loadsNoYamlLibraryWithoutFile() throws Exception {
        ClassLoader withoutJackson =
                new ClassLoader("without-jackson", getClass().getClassLoader()) {
                    @Override
                    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                        if (name.startsWith("com.fasterxml") || name.startsWith("org.yaml")) {
                            throw new ClassNotFoundException(name + " is hidden");
                        }
                        return name.startsWith("trigon.") ? ownClass(name) : super.loadClass(name, resolve);
                    }

                    private Class<?> ownClass(String name) throws ClassNotFoundException {
                        Class<?> loaded = findLoadedClass(name);
                        if (loaded != null) {
                            return loaded;
                        }
                        try (var in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                            byte[] bytes = in.readAllBytes();
                            return defineClass(name, bytes, 0, bytes.length);
                        } catch (java.io.IOException e) {
                            throw new ClassNotFoundException(name, e);
                        }
                    }
                };
        Class<?> loader = withoutJackson.loadClass(ConfigLoader.class.getName());

        Object config = loader.getMethod("load", Map.class, String.class).invoke(null, Map.of(), "a");

        assertThat(config.getClass().getClassLoader()).isSameAs(withoutJackson);
        assertThat(((List<?>) config.getClass().getMethod("describe").invoke(config)))
                .isNotEmpty();
    }

    private static String error(String path) {
        try {
            ConfigLoader.load(Map.of("TRIGON_CONFIG", path), "a");
        } catch (ConfigException e) {
            return String.valueOf(e.getMessage());
        }
        throw new AssertionError("loaded without an error");
    }
}
