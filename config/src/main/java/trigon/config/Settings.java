package trigon.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import trigon.config.cluster.ClusterConfig;
import trigon.config.setting.CircuitCarrier;
import trigon.config.setting.CircuitCheck;
import trigon.config.setting.FailoverPolicy;
import trigon.config.setting.GpuMemoryUse;
import trigon.config.setting.LaneUse;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.OneSidedUse;
import trigon.config.setting.PolicyMode;
import trigon.config.setting.RelayPolicy;
import trigon.config.setting.RoutedRdma;
import trigon.config.setting.SettingKey;
import trigon.config.setting.SettingKey.Reader;
import trigon.config.setting.StripePolicy;
import trigon.config.setting.TuningUse;
import trigon.config.setting.ValueType;
import trigon.config.setting.ValueType.AbsolutePath;
import trigon.config.setting.ValueType.AnyText;
import trigon.config.setting.ValueType.EndlessTimeSpan;
import trigon.config.setting.ValueType.Optionally;
import trigon.config.setting.ValueType.Ports;
import trigon.config.setting.ValueType.TimeSpan;
import trigon.config.setting.ValueType.WholeNumber;
import trigon.config.setting.ValueType.Word;
import trigon.system.PortRange;

/**
 * The table of all settings. {@code ConfigLoader} reads them, {@link PluginConfig#value} returns the value of a row,
 * {@link PluginConfig#describe} logs it, and docs/guide/settings.md is generated from the table. A new setting is a row
 * here, and the code that uses its value.
 *
 * <p>The cluster's nodes and their NICs are not settings but a structure of the file; see {@link ClusterConfig}.
 */
public final class Settings {

    /** In the order of the documentation; filled by the constants below. */
    private static final List<SettingKey<?>> TABLE = new ArrayList<>();

    /** Path of the file. */
    public static final SettingKey<Optional<String>> CONFIG = ofEnvironment(
            "TRIGON_CONFIG", new AnyText(), "none", "path of the cluster's YAML file, the same on all nodes");

    /** This process's node among the file's. */
    public static final SettingKey<Optional<String>> NODE =
            ofEnvironment("TRIGON_NODE", new AnyText(), "the host name", "which node of the file this is");

    /** Links that may carry data. */
    public static final SettingKey<LinkPolicy> LINKS = ofBoth(
            "TRIGON_LINKS",
            "links",
            new Word<>(LinkPolicy.class),
            "auto",
            "`auto`, `rdma` or `software`: what may carry data");

    /** An entry of every port's GID table. */
    public static final SettingKey<Optional<Integer>> GID_INDEX = optional(
            "queuePair.gidIndex",
            new WholeNumber(0, 255),
            "by address and type",
            "the entry of every port's GID table to use");

    /** The physical port of a device. */
    public static final SettingKey<Optional<Integer>> PORT =
            optional("queuePair.port", new WholeNumber(1, 255), "any active", "the only port of every device to use");

    /** 8 bits of the global route. */
    public static final SettingKey<Optional<Integer>> TRAFFIC_CLASS = optional(
            "queuePair.trafficClass", new WholeNumber(0, 255), "NCCL's, else 0", "DSCP and ECN bits of RoCE's packets");

    public static final SettingKey<Integer> SERVICE_LEVEL =
            ofFile("queuePair.serviceLevel", new WholeNumber(0, 15), "0", "InfiniBand service level");

    /** Code of the wait for an acknowledgement. */
    public static final SettingKey<Integer> TIMEOUT = ofFile(
            "queuePair.timeout",
            new WholeNumber(1, 31),
            "18",
            "wait for an acknowledgement: 4.096 us times 2 to this power");

    /** Retransmissions; some devices take 7 for "without end", and then a dead peer is never noticed. */
    public static final SettingKey<Integer> RETRY_COUNT =
            ofFile("queuePair.retryCount", new WholeNumber(0, 6), "6", "retransmissions before a peer counts as dead");

    /** Retries after "receiver not ready". */
    public static final SettingKey<Integer> RNR_RETRY = ofFile(
            "queuePair.rnrRetry", new WholeNumber(0, 7), "7", "retries after \"receiver not ready\"; 7 is without end");

    /** Code of the delay that a receiver asks for. */
    public static final SettingKey<Integer> MIN_RNR_TIMER = ofFile(
            "queuePair.minRnrTimer",
            new WholeNumber(1, 31),
            "12",
            "code of the delay that a receiver asks for while it has no receive posted; 12 is 0.64 ms");

    /** From the first attempt on one candidate path to its end. */
    public static final SettingKey<Duration> HANDSHAKE_TIMEOUT = ofFile(
            "handshake.timeout",
            new TimeSpan(Duration.ofMillis(100), Duration.ofHours(1)),
            "10s",
            "how long one path is tried before the next");

    /** TCP ports that are listened on: of handshakes, of software links' data and of relays. */
    public static final SettingKey<Optional<PortRange>> PORTS = add(
            Optional.of("TRIGON_PORTS"),
            Optional.of("ports"),
            Reader.LOADER,
            new Optionally<>(new Ports()),
            Optional.empty(),
            "any free",
            "the TCP ports that processes listen on, such as `30000-30999`; see"
                    + " [the firewall](install.md#open-the-firewall)");

    /**
     * Silence of a connected peer that ends the connection: at least two of its heartbeats. The default is longer than
     * TCP's pause between two attempts after ten seconds without a link.
     */
    public static final SettingKey<Duration> PEER_TIMEOUT = ofBoth(
            "TRIGON_PEER_TIMEOUT",
            "handshake.peerTimeout",
            new TimeSpan(Duration.ofSeconds(2), Duration.ofHours(1)),
            "20s",
            "how long a connected peer may be silent before it counts as lost, 2s to 1h; see"
                    + " [failures](../reference/failures.md)");

    /**
     * Silence of a peer whose kernel still answers: its process is stopped, or starves. The default is as long as
     * PyTorch waits for NCCL.
     */
    public static final SettingKey<Duration> STOPPED_TIMEOUT = ofBoth(
            "TRIGON_STOPPED_TIMEOUT",
            "handshake.stoppedTimeout",
            new EndlessTimeSpan(new TimeSpan(Duration.ofSeconds(2), Duration.ofDays(1))),
            "10m",
            "how long a peer's process may be stopped while its kernel answers, 2s to 24h, or `never` an end; no less"
                    + " than `peerTimeout`");

    public static final SettingKey<Optional<Path>> CLUSTER_KEY_FILE = add(
            Optional.of("TRIGON_CLUSTER_KEY_FILE"),
            Optional.of("handshake.clusterKeyFile"),
            Reader.LOADER,
            new Optionally<>(new AbsolutePath("the key, the same on all nodes")),
            Optional.empty(),
            "none",
            "absolute path of a file with the cluster key, which every peer must have");

    /** Treatment of a connection whose path fails. */
    public static final SettingKey<FailoverPolicy> FAILOVER = ofBoth(
            "TRIGON_FAILOVER",
            "failover",
            new Word<>(FailoverPolicy.class),
            "on",
            "`on` or `off`: whether a connection moves to another path when its own fails; if either node has it"
                    + " off, the connection fails with its path. See [failures](../reference/failures.md)");

    /** Side that moves the messages of a connection that runs as usual. */
    public static final SettingKey<LaneUse> LANES = ofBoth(
            "TRIGON_LANES",
            "lanes",
            new Word<>(LaneUse.class),
            "auto",
            "`auto` or `off`: whether the entry library moves the messages of a connection over one path, while it"
                    + " runs as usual, without the JVM; `off` sends every call through Java, which is slower, to find"
                    + " faults");

    /** Over which of the links to the same peer a connection goes. */
    public static final SettingKey<StripePolicy> STRIPE_LINKS = ofBoth(
            "TRIGON_STRIPES",
            "stripes.links",
            new Word<>(StripePolicy.class),
            "auto",
            "`auto`, `one` or `all`: over how many of several equally direct links to the same peer a connection"
                    + " goes; long messages are split. `auto` is all on RDMA links and one on software links; see"
                    + " [decision 15](../design/decisions/0015-several-queue-pairs-per-connection.md)");

    /** Queue pairs of a connection on each of them. */
    public static final SettingKey<Integer> QUEUE_PAIRS_PER_LINK = ofBoth(
            "TRIGON_QUEUE_PAIRS_PER_LINK",
            "stripes.queuePairsPerLink",
            new WholeNumber(1, 4),
            "1",
            "queue pairs of a connection on each link, 1 to 4, at most 8 for a connection: with 3 or 4 it uses two"
                    + " links");

    /** For whom this node relays. */
    public static final SettingKey<RelayPolicy> RELAY = ofBoth(
            "TRIGON_RELAY",
            "relay",
            new ValueType.Relays(),
            "on",
            "`on`, `off` or `only-for [nodes]`: whether this node takes part in relays, and for which nodes it"
                    + " relays; with `off` it neither relays nor is relayed; see [rings and"
                    + " lines](rings-and-lines.md)");

    /** Number of connections that a relay passes on. */
    public static final SettingKey<Integer> CIRCUITS_MOST = ofFile(
            "circuits.most",
            new WholeNumber(1, 16384),
            "1024",
            "TCP connections that a relay carries at the same time; each takes 64 KiB");

    /** Speed of a relay. */
    public static final SettingKey<Optional<Integer>> CIRCUITS_RATE = optional(
            "circuits.megabitsPerSecond",
            new WholeNumber(1, 100_000_000),
            "no limit",
            "the most that a relay carries in all, in Mbit/s");

    /** Carrier of connections through relays. */
    public static final SettingKey<CircuitCarrier> CIRCUITS_CARRIER = ofBoth(
            "TRIGON_CIRCUITS_CARRIER",
            "circuits.carrier",
            new Word<>(CircuitCarrier.class),
            "auto",
            "`auto` or `tcp`: whether RDMA carries relayed connections over each link that has it at both ends");

    /** Messages through relays that are checked from end to end. */
    public static final SettingKey<CircuitCheck> CIRCUITS_CHECK = ofBoth(
            "TRIGON_CIRCUITS_CHECK",
            "circuits.check",
            new Word<>(CircuitCheck.class),
            "some",
            "`some`, `all` or `none`: which messages through relays this process sends with a checksum, which their"
                    + " receiver compares; `some` are those of up to 4 KiB and each 16th longer one");

    /** Memory that RDMA locks for them. */
    public static final SettingKey<Integer> CIRCUITS_MEMORY = ofFile(
            "circuits.memoryMiB",
            new WholeNumber(0, 1 << 20),
            "64",
            "locked memory that RDMA may take for relayed connections in each process: about 200 of them at a relay,"
                    + " with shorter buffers the more there are; those beyond it go by TCP");

    /** True if RDMA goes by gateways. */
    public static final SettingKey<RoutedRdma> ROUTES_RDMA = ofBoth(
            "TRIGON_ROUTES_RDMA",
            "routes.rdma",
            new Word<>(RoutedRdma.class),
            "off",
            "`off` or `on`: whether RDMA goes over routes of the kernel that have a gateway; with `off`, TCP does. Set"
                    + " it where switches route, and not where hosts forward");

    /** UDP port of the announcements. */
    public static final SettingKey<Integer> TOPOLOGY_PORT = ofFile(
            "topology.port",
            new WholeNumber(1, 65535),
            "21577",
            "UDP port of the announcements by which nodes find relays; the same on all nodes");

    public static final SettingKey<Optional<Path>> POLICY_FILE = add(
            Optional.of("TRIGON_POLICY"),
            Optional.of("policy.file"),
            Reader.LOADER,
            new Optionally<>(new AbsolutePath("a policy, the same on all nodes")),
            Optional.empty(),
            "none",
            "absolute path of a policy, an eBPF object that decides for NCCL and for connections; see"
                    + " [policies](policies.md)");

    /** True if the job may go on without it. */
    public static final SettingKey<PolicyMode> POLICY_MODE = ofBoth(
            "TRIGON_POLICY_MODE",
            "policy.mode",
            new Word<>(PolicyMode.class),
            "optional",
            "`optional` or `required`: whether communicators fail where the policy is refused");

    /** Use of the built-in tuner. */
    public static final SettingKey<TuningUse> TUNING = ofBoth(
            "TRIGON_TUNING",
            "tuning",
            new Word<>(TuningUse.class),
            "auto",
            "`auto` or `off`: whether Trigon chooses the protocol and number of channels of collectives where no"
                    + " policy does, the same on all nodes; see [decision"
                    + " 44](../design/decisions/0044-short-collectives-have-few-channels.md)");

    /** True if NCCL's device-initiated networking and host RMA go over Trigon. */
    public static final SettingKey<OneSidedUse> ONE_SIDED = ofBoth(
            "TRIGON_ONE_SIDED",
            "oneSided",
            new Word<>(OneSidedUse.class),
            "off",
            "`on` or `off`: whether Trigon offers NCCL GIN and RMA, the same on all nodes; see [one-sided"
                    + " communication](one-sided.md)");

    /** Number of devices that NCCL sees, unless NICs read and write memory of GPUs. */
    public static final SettingKey<Integer> DEVICES = ofFile(
            "devices",
            new WholeNumber(1, 64),
            "1",
            "network devices that NCCL sees on nodes with several GPUs, each for the NICs near to some of them, the"
                    + " same on all nodes; see [several GPUs](faster.md#nodes-with-several-gpus)");

    /** True if NICs read and write memory of GPUs. */
    public static final SettingKey<GpuMemoryUse> GPU_MEMORY = ofBoth(
            "TRIGON_GPU_MEMORY",
            "gpuMemory",
            new Word<>(GpuMemoryUse.class),
            "off",
            "`off`, `auto` or `on`: whether RDMA NICs read and write memory of GPUs, the same on all nodes; see"
                    + " [GPU memory](configure.md#gpu-memory)");

    static {
        ofStart(
                "TRIGON_LOG",
                "what `NCCL_DEBUG` shows",
                "log level: `off`, `error`, `warn`, `info`, `debug` or `trace`. Lines that NCCL's log does not"
                        + " show, because `NCCL_DEBUG` is lower or not set, go to stderr. `trigon relay` logs to"
                        + " stderr, at `info` by default");
        ofStart("TRIGON_HOME", "found from the library's own place", "the distribution's folder");
        ofStart(
                "TRIGON_JAVA_OPTS",
                "none",
                "more options for the JVM; see [the start](../measurements/process.md#the-start) for those that change"
                        + " it, [hosts](../reference/hosts.md) for those that are refused");
        ofStart("TRIGON_TRACE", "none", "a folder into which this process writes its trace; see [tracing](tracing.md)");
        ofStart(
                "TRIGON_TRACE_KERNELS",
                "`false`",
                "`true`: the trace includes when kernels ran; small messages take longer");
        ofTools("TRIGON_BENCH_RESULTS", "where the benchmarks' results go");
        ofTools("TRIGON_CONTAINERS", "whether tests in containers may be skipped");
        ofTools("TRIGON_DISTRIBUTION", "the distribution that the harness for NCCL is tested with");
        ofTools("TRIGON_DEBIAN", "where the packages for another processor come from");
        ofTools("TRIGON_DEBIAN_SECURITY", "the same for Debian's security updates");
        ofTools("TRIGON_GLIBC", "whether a distribution may ask for a newer C library than its machines have");
        ofTools("TRIGON_HANDLER", "entry of binfmt_misc for programs of another processor, passed to a new namespace");
    }

    private Settings() {}

    /** All rows, in the order of the documentation. */
    public static List<SettingKey<?>> all() {
        return Collections.unmodifiableList(TABLE);
    }

    /** The row with that key in the file. */
    public static Optional<SettingKey<?>> withFileKey(String key) {
        return TABLE.stream()
                .<SettingKey<?>>map(each -> each)
                .filter(each -> each.fileKey().filter(key::equals).isPresent())
                .findFirst();
    }

    private static <T> SettingKey<T> ofBoth(
            String variable, String fileKey, ValueType<T> type, String defaultText, String meaning) {
        return withDefault(Optional.of(variable), fileKey, type, defaultText, meaning);
    }

    private static <T> SettingKey<T> ofFile(String fileKey, ValueType<T> type, String defaultText, String meaning) {
        return withDefault(Optional.empty(), fileKey, type, defaultText, meaning);
    }

    private static <T> SettingKey<T> withDefault(
            Optional<String> variable, String fileKey, ValueType<T> type, String defaultText, String meaning) {
        T defaultValue = type.parse(defaultText)
                .orElseThrow(
                        () -> new AssertionError(fileKey + " has the default " + defaultText + ": " + type.rule()));
        return add(variable, Optional.of(fileKey), Reader.LOADER, type, defaultValue, defaultText, meaning);
    }

    private static <T> SettingKey<Optional<T>> optional(
            String fileKey, ValueType<T> type, String defaultText, String meaning) {
        return add(
                Optional.empty(),
                Optional.of(fileKey),
                Reader.LOADER,
                new Optionally<>(type),
                Optional.empty(),
                defaultText,
                meaning);
    }

    private static <T> SettingKey<Optional<T>> ofEnvironment(
            String variable, ValueType<T> type, String defaultText, String meaning) {
        return add(
                Optional.of(variable),
                Optional.empty(),
                Reader.LOADER,
                new Optionally<>(type),
                Optional.empty(),
                defaultText,
                meaning);
    }

    private static void ofStart(String variable, String defaultText, String meaning) {
        readElsewhere(variable, Reader.START, defaultText, meaning);
    }

    private static void ofTools(String variable, String meaning) {
        readElsewhere(variable, Reader.TOOLS, "none", meaning);
    }

    private static void readElsewhere(String variable, Reader reader, String defaultText, String meaning) {
        add(
                Optional.of(variable),
                Optional.empty(),
                reader,
                new Optionally<>(new AnyText()),
                Optional.empty(),
                defaultText,
                meaning);
    }

    private static <T> SettingKey<T> add(
            Optional<String> variable,
            Optional<String> fileKey,
            Reader reader,
            ValueType<T> type,
            T defaultValue,
            String defaultText,
            String meaning) {
        SettingKey<T> key = new SettingKey<>(variable, fileKey, reader, type, defaultValue, defaultText, meaning);
        TABLE.add(key);
        return key;
    }
}
