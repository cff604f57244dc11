package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/** The host program asks the library's tuner as NCCL does, for each version of its API. */
class TunerIT {

    static final Path EXAMPLES = copied(Path.of("..", "policy", "examples"));
    static final Path PROGRAMS = copied(Path.of("..", "policy", "engine", "src", "test", "c"));

    @TempDir
    private Path scratch;

    /** A process takes only what its user owns and nobody else may write, which a checkout need not be. */
    private static Path copied(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            Path copies = Files.createTempDirectory("policies");
            copies.toFile().deleteOnExit();
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".o")).toList()) {
                Path copy = Files.write(copies.resolve(file.getFileName()), Files.readAllBytes(file));
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
                copy.toFile().deleteOnExit();
            }
            return copies;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @Sampled({"2", "3", "4", "5", "6", "7"})
    void thePolicyDecides(int api) throws Exception {
        ChildProcess host = tune(policy(EXAMPLES.resolve("size_aware.o")), api);

        assertThat(host.exit()).as(host.stderr()).isZero();
        // NCCL's own choice is LL128 at 1 MiB, Simple above
        assertThat(decision(host, "all-reduce", 1 << 20)).contains("ring", "ll128");
        assertThat(decision(host, "all-reduce", 16 << 20)).contains("ring", api == 2 ? "simple" : "ll128");
        assertThat(decision(host, "broadcast", 16 << 20)).contains("ring", "simple");
        assertThat(decision(host, "all-reduce", 1 << 10)).contains("tree", "ll\"");
    }

    @ParameterizedTest
    @Sampled({"6", "7"})
    void treesAreAvoidedAndChunksChosen(int api) throws Exception {
        ChildProcess mesh = ChildProcess.run(
                scratch, policy(EXAMPLES.resolve("mesh.o")), command(api, "--ranks", "4", "--nodes", "4"));
        assertThat(decision(mesh, "all-reduce", 1 << 10)).contains("ring");
        assertThat(decision(mesh, "all-gather", 1 << 10)).contains("ring");

        ChildProcess chunks = tune(policy(EXAMPLES.resolve("chunks.o")), api);
        assertThat(decision(chunks, "all-reduce", 16 << 20)).contains("\"chunk\": 524288");
        assertThat(decision(chunks, "all-reduce", 1 << 10)).contains("\"chunk\": 131072");
    }

    /**
     * The host's costs are those of trees up to 64 KiB, of Ring/LL at 256 KiB. A step of an all-reduce of two ranks is
     * half of it; a broadcast passes all on.
     */
    @ParameterizedTest
    @Sampled({"3", "4", "5", "6", "7"})
    void withoutAPolicyTheBuiltInTunerDecides(int api) throws Exception {
        ChildProcess host = tune(withoutPolicy(), api);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(decision(host, "all-reduce", 1 << 14)).contains("tree", "\"channels\": 1,");
        assertThat(decision(host, "all-reduce", 1 << 16)).contains("tree", "\"channels\": 0,");
        assertThat(decision(host, "all-reduce", 1 << 18)).contains("ring", "simple", "\"channels\": 1,");
        assertThat(decision(host, "all-reduce", 1 << 20)).contains("ring", "\"channels\": 2,");
        assertThat(decision(host, "all-reduce", 1 << 22)).contains("ring", "\"channels\": 0,");
        assertThat(decision(host, "broadcast", 1 << 16)).contains("ll\"", "\"channels\": 1,");
        assertThat(decision(host, "broadcast", 1 << 18)).contains("simple", "\"channels\": 2,");
        assertThat(decision(host, "broadcast", 1 << 22)).contains("\"channels\": 0,");
    }

    /** NCCL 2.21 shows its tuner neither its own choice nor what NCCL_ALGO leaves out. */
    @Test
    void withoutACostTableTheBuiltInTunerDecidesNothing() throws Exception {
        ChildProcess host = tune(withoutPolicy(), 2);

        assertThat(decision(host, "all-reduce", 1 << 18)).contains("ring", "ll\"", "\"channels\": 0,");
    }

    @Test
    void aPolicyThatChoosesNoChannelsLeavesThemToTheBuiltInTuner() throws Exception {
        ChildProcess host = tune(policy(EXAMPLES.resolve("noop.o")), 6);

        assertThat(decision(host, "all-reduce", 1 << 18)).contains("\"channels\": 1,");
    }

    /** Else a variable that is set on one node alone would make ranks decide differently. */
    @ParameterizedTest
    @Sampled({"NCCL_MIN_CTAS", "NCCL_MIN_NCHANNELS"})
    void theEnvironmentOfNcclChangesNoAnswer(String variable) throws Exception {
        Map<String, String> environment = new HashMap<>(withoutPolicy());
        environment.put(variable, "4");

        assertThat(decision(tune(environment, 6), "all-reduce", 1 << 10)).contains("\"channels\": 1,");
    }

    @Test
    void whatNcclCarriesOverAnotherNetIsLeftToIt() throws Exception {
        ChildProcess host = ChildProcess.run(scratch, withoutPolicy(), command(6, "--without-net"));

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(decision(host, "all-reduce", 1 << 18)).contains("ring", "ll\"", "\"channels\": 0,");
    }

    @Test
    void switchedOffByAVariableThereIsNoTuner() throws Exception {
        Map<String, String> environment = new HashMap<>(withoutPolicy());
        environment.put("TRIGON_TUNING", "off");
        ChildProcess host = tune(environment, 6);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("there is no ncclTunerPlugin_v6");
    }

    @Test
    void switchedOffByTheFileAPolicyStaysAlone() throws Exception {
        Path file = Files.writeString(scratch.resolve("cluster.yaml"), "version: 1\ntuning: off\n");
        Map<String, String> environment = new HashMap<>(policy(EXAMPLES.resolve("noop.o")));
        environment.put("TRIGON_CONFIG", file.toString());
        ChildProcess host = tune(environment, 6);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("found ncclTunerPlugin_v6");
        assertThat(decision(host, "all-reduce", 1 << 18)).contains("ring", "ll\"", "\"channels\": 0,");
    }

    @Test
    void nodesOfSeveralRanksAreLeftToNccl() throws Exception {
        ChildProcess host = ChildProcess.run(scratch, withoutPolicy(), command(6, "--ranks", "4", "--nodes", "2"));

        assertThat(decision(host, "all-reduce", 1 << 10)).contains("\"channels\": 0,");
    }

    /** NCCL leaves out what the variable asks for where there is a tuner. */
    @Test
    void whereNcclIsToldItsCtaPolicyThereIsNoTunerWithoutAPolicy() throws Exception {
        Map<String, String> environment = new HashMap<>(withoutPolicy());
        environment.put("NCCL_CTA_POLICY", "1");
        ChildProcess host = tune(environment, 6);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("there is no ncclTunerPlugin_v6");
    }

    private Map<String, String> withoutPolicy() throws Exception {
        return Map.of("TRIGON_HOME", homeOfTheTransport(), "TRIGON_LINKS", "software");
    }

    @Test
    void withAPolicyThereIsOneBesideTheTransport() throws Exception {
        ChildProcess host = tune(
                Map.of(
                        "TRIGON_HOME",
                        homeOfTheTransport(),
                        "TRIGON_LINKS",
                        "software",
                        "NCCL_DEBUG",
                        "INFO",
                        "TRIGON_POLICY",
                        EXAMPLES.resolve("size_aware.o").toString()),
                5);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr())
                .contains("found ncclTunerPlugin_v5", "policy size_aware.o (tuner size_aware; ")
                .contains("communicator 0x7267000000000001 of 2 ranks on 2 nodes: 3 decided by the policy");
        assertThat(decision(host, "all-reduce", 16 << 20)).contains("ll128");
    }

    @Test
    void thePolicyHasASayInConnections() throws Exception {
        ChildProcess host = ChildProcess.host(
                scratch,
                Map.of(
                        "TRIGON_HOME",
                        homeOfTheTransport(),
                        "TRIGON_LINKS",
                        "software",
                        "NCCL_DEBUG",
                        "INFO",
                        "TRIGON_POLICY",
                        PROGRAMS.resolve("connect_three.o").toString()),
                "--plugin",
                ChildProcess.PLUGIN.toString(),
                "--ranks",
                "2",
                "--local-ranks",
                "2",
                "--rendezvous",
                scratch.resolve("rendezvous").toString());

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains(" by 3 queue pairs over ");
    }

    /** What the second rank alone refuses, the first one decides by: both fail when they connect, and do not hang. */
    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void ranksThatWouldDecideDifferentlyFailWhenTheyConnect() throws Exception {
        List<Path> policies = List.of(EXAMPLES.resolve("noop.o"), PROGRAMS.resolve("unsafe_null_check.o"));
        List<ChildProcess> ranks = new ArrayList<>();
        try (ExecutorService executor = Executors.newCachedThreadPool()) {
            List<Callable<ChildProcess>> starts = new ArrayList<>();
            String home = homeOfTheTransport();
            for (int rank = 0; rank < policies.size(); rank++) {
                Path folder = Files.createDirectory(scratch.resolve("rank" + rank));
                String object = policies.get(rank).toString();
                String number = Integer.toString(rank);
                starts.add(() -> ChildProcess.host(
                        folder,
                        Map.of("TRIGON_HOME", home, "TRIGON_LINKS", "software", "TRIGON_POLICY", object),
                        "--plugin",
                        ChildProcess.PLUGIN.toString(),
                        "--rank",
                        number,
                        "--ranks",
                        "2",
                        "--rendezvous",
                        scratch.resolve("rendezvous").toString()));
            }
            for (Future<ChildProcess> each : executor.invokeAll(starts)) {
                ranks.add(each.get());
            }
        }
        assertThat(ranks).allSatisfy(rank -> {
            assertThat(rank.exit()).as(rank.stderr()).isNotZero();
            assertThat(rank.stderr())
                    .contains(
                            " decides by policy ",
                            " has a policy that does not decide",
                            "TRIGON_POLICY to the same file");
        });
    }

    @Test
    void aRefusedPolicyIsNamedWithItsRule() throws Exception {
        ChildProcess host = tune(policy(PROGRAMS.resolve("unsafe_null_check.o")), 6);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr().lines().filter(line -> line.contains("WARN")))
                .singleElement()
                .asString()
                .contains("unsafe_null_check.o: section tuner, program program", "instruction 8", "NULL_CHECK")
                .contains("compare it with 0 first", "NCCL's own choices stand");
        assertThat(decision(host, "all-reduce", 16 << 20)).contains("simple");
    }

    @ParameterizedTest
    @Sampled({"/nowhere/policy.o", "/proc/self/status"})
    void aRequiredPolicyThatIsNoneFailsTheCommunicator(String path) throws Exception {
        Map<String, String> environment = Map.of("TRIGON_POLICY", path, "TRIGON_POLICY_MODE", "required");

        ChildProcess host = tune(environment, 5);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr()).contains("policy refused: ", "policy.mode is required", "invalid usage");
    }

    /** The library's profiler hears of collectives, its tuner decides by what the policy has measured. */
    @ParameterizedTest
    @Sampled({"4", "6", "7"})
    void whatTheProfilerHearsTheTunerDecidesBy(int profiler) throws Exception {
        ChildProcess host = ChildProcess.run(scratch, policy(EXAMPLES.resolve("slo.o")), eventsCommand(profiler, 6));

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("found ncclProfiler_v" + profiler);
        assertThat(host.stdout())
                .as(host.stderr())
                .contains("\"before_events\": {\"algorithm\": \"ring\", \"channels\": 0}")
                .contains("\"after_events\": {\"algorithm\": \"ring\", \"channels\": 16}");
    }

    @Test
    void eventsComeFromATraceToo() throws Exception {
        Path folder = scratch.resolve("trace");
        ChildProcess host = ChildProcess.run(
                scratch,
                Map.of("TRIGON_POLICY", EXAMPLES.resolve("slo.o").toString(), "TRIGON_TRACE", folder.toString()),
                eventsCommand(6, 6));

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout()).contains("\"channels\": 16}");
        try (Stream<Path> traces = Files.list(folder)) {
            assertThat(traces)
                    .singleElement()
                    .satisfies(trace -> assertThat(Files.size(trace)).isGreaterThan(4096));
        }
    }

    @Test
    void withoutAProgramForEventsThereAreNone() throws Exception {
        List<String> command = new ArrayList<>(eventsCommand(6, 6));
        command.addAll(List.of("--timeout", "1"));
        ChildProcess host = ChildProcess.run(scratch, policy(EXAMPLES.resolve("noop.o")), command);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout()).contains("\"after_events\": {\"algorithm\": \"ring\", \"channels\": 0}");
    }

    static List<String> eventsCommand(int profiler, int api) {
        return List.of(
                ChildProcess.HOST,
                "--plugin",
                ChildProcess.PLUGIN.toString(),
                "--tuner",
                Integer.toString(api),
                "--profiler",
                Integer.toString(profiler),
                "--event-microseconds",
                "4000");
    }

    /** A communicator keeps what it began with; a new one has what is in the file by then, a bad version never. */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void newCommunicatorsTakeTheNewVersion() throws Exception {
        Path file = scratch.resolve("policy.o");
        Files.copy(EXAMPLES.resolve("noop.o"), file);
        ProcessBuilder builder = new ProcessBuilder(command(5, "--communicators", "1000"));
        builder.environment().keySet().removeIf(name -> name.startsWith("TRIGON_") || name.startsWith("NCCL_"));
        builder.environment()
                .putAll(Map.of("TRIGON_POLICY", file.toString(), "JAVA_HOME", System.getProperty("java.home")));
        builder.redirectError(ProcessBuilder.Redirect.DISCARD);
        Process host = builder.start();
        try (BufferedReader output = host.inputReader()) {
            assertThat(next(output)).contains("tree", "ll\"");
            replace(file, PROGRAMS.resolve("unsafe_division.o"));
            for (int i = 0; i < 10; i++) {
                assertThat(next(output)).contains("tree", "ll\"");
            }
            replace(file, EXAMPLES.resolve("hierarchy.o"));
            String decision = next(output);
            while (!decision.contains("simple")) {
                decision = next(output);
            }
            assertThat(decision).contains("tree");
        } finally {
            host.destroyForcibly().waitFor();
        }
    }

    /** Of an all-reduce of 1 KiB, rank 0. */
    private static String next(BufferedReader output) throws Exception {
        String line = output.readLine();
        while (line != null && !isOf(line, "all-reduce", 1 << 10)) {
            line = output.readLine();
        }
        assertThat(line).as("the host goes on").isNotNull();
        return line;
    }

    private void replace(Path file, Path object) throws Exception {
        Path next = Files.copy(object, scratch.resolve("next"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    static Map<String, String> policy(Path object) {
        return Map.of("TRIGON_POLICY", object.toString());
    }

    private ChildProcess tune(Map<String, String> environment, int api) throws Exception {
        return ChildProcess.run(scratch, environment, command(api));
    }

    static List<String> command(int api, String... more) {
        List<String> command = new ArrayList<>(List.of(
                ChildProcess.HOST,
                "--plugin",
                ChildProcess.PLUGIN.toString(),
                "--tuner",
                Integer.toString(api),
                "--ranks",
                "2",
                "--local-ranks",
                "2",
                "--bytes",
                Integer.toString(64 << 20),
                "--iterations",
                "1",
                "--print-json"));
        command.addAll(List.of(more));
        return command;
    }

    private static String decision(ChildProcess host, String collective, int bytes) {
        return host.stdout()
                .lines()
                .filter(line -> isOf(line, collective, bytes))
                .findFirst()
                .orElseThrow(() -> new AssertionError(host.stderr()));
    }

    private static boolean isOf(String line, String collective, int bytes) {
        return line.startsWith("{\"rank\": 0, \"collective\": \"%s\", \"bytes\": %d, ".formatted(collective, bytes));
    }

    /** The test installation without the transport that tests put in the real one's place. */
    private String homeOfTheTransport() throws Exception {
        Path home = Files.createDirectories(scratch.resolve("home"));
        Path jars = Files.createDirectories(home.resolve("jars"));
        try (Stream<Path> all = Files.list(ChildProcess.HOME.resolve("jars"))) {
            for (Path jar :
                    all.filter(each -> !each.toString().contains("loopback")).toList()) {
                Files.copy(jar, jars.resolve(jar.getFileName()));
            }
        }
        return home.toString();
    }
}
