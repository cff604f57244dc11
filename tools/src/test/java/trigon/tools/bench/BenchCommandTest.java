package trigon.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import picocli.CommandLine;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.routing.LocalLink;
import trigon.testsupport.Await;
import trigon.tools.PassingTime;
import trigon.tools.Run;
import trigon.tools.bench.BenchStep.Kind;
import trigon.tools.console.Console;
import trigon.tools.console.Time;

/** With a program in place of nccl-host that says what it should have measured. The real one is in BenchIT. */
@Timeout(120)
@Isolated("a program that another thread starts meanwhile holds the script open: \"text file busy\"")
class BenchCommandTest {

    @TempDir
    Path folder;

    private Machine machine(String script) throws IOException {
        Path host = Files.createDirectories(folder.resolve("home/libexec")).resolve("nccl-host");
        Files.writeString(host, "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(host, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(Files.createDirectories(folder.resolve("home/lib")).resolve("libnccl-net-trigon.so"), "none");
        return new Machine(
                Path.of("/"), Map.of("PATH", "/usr/bin:/bin"), "here", "1.2.3", Optional.of(folder.resolve("home")));
    }

    private static final String GOOD = """
        echo "$@" >>%s
        echo "rank 0: NCCL INFO NET/Trigon : sends to b via eth1 10.0.12.1/24 (TCP), same subnet: TCP" >&2
        echo '{"rank": 0, "wrong": 0, "round_us": [90.0, 100.0, 5000.0]}'
        """;

    @Test
    void eachSizeOfEachTestIsMeasuredByTwoProcesses() throws Exception {
        Path calls = folder.resolve("calls");

        Run run = Run.of(machine(GOOD.formatted(calls)), 100, "bench", "--sizes", "4K,1M");

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("point-to-point  0 and 1  4 KiB  3       50.0")
                .contains("all-reduce      all 2    1 MiB  3       100.0  10.486")
                .contains("sends to b via eth1 10.0.12.1/24 (TCP), same subnet: TCP", "not a cable's");
        assertThat(Files.readAllLines(calls))
                .hasSize(8)
                .anyMatch(line -> line.contains("--rank 1 --ranks 2") && line.contains("--bytes 8192"))
                .anyMatch(line -> line.contains("--rank 0 --ranks 2") && line.contains("--bytes 1048576"));
    }

    @Test
    void ofDecodingAHundredAllReducesInARowAreOneRound() throws Exception {
        Path calls = folder.resolve("calls");

        Run run = Run.of(machine("""
                echo "$@" >>%s
                awk 'BEGIN {
                  printf "{\\"rank\\": 0, \\"wrong\\": 0, \\"round_us\\": [900.0"
                  for (i = 1; i < 350; i++) printf ", %%.1f", i < 100 ? 10 : i < 200 ? 30 : 20
                  print "]}"
                }'
                """.formatted(calls)), 100, "bench", "--decode", "--sizes", "8K");

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("decode          all 2    8 KiB  3       20.0")
                .containsPattern("decode .* 30\\.0");
        assertThat(Files.readAllLines(calls)).hasSize(4).anyMatch(line -> line.contains("--iterations 5000"));
    }

    @Test
    void betweenNodesEachRunsItsOwnRankAndEachSizeHasAPort() throws Exception {
        Path calls = folder.resolve("calls");

        Run run = Run.of(
                machine(GOOD.formatted(calls)),
                100,
                "bench --meet 10.0.0.1:7000 --ranks 3 --rank 2 --sizes 64K --json".split(" "));

        assertThat(run.out()).contains("\"schema\": \"trigon.bench/1\"").contains("\"gigabytesPerSecond\"");
        assertThat(Files.readAllLines(calls))
                .satisfiesExactly(
                        pair -> assertThat(pair).contains("--rank 1 --ranks 2", "10.0.0.1:7001"),
                        all -> assertThat(all).contains("--rank 2 --ranks 3", "10.0.0.1:7002"));
    }

    @Test
    void aFileForOthersHasTheFiguresAndNoNames() throws Exception {
        Path file = folder.resolve("submission.json");

        Run run = Run.of(
                machine(GOOD.formatted(folder.resolve("calls"))),
                100,
                "bench",
                "--sizes",
                "4K",
                "--submit",
                file.toString());

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        JsonObject submission = JsonObject.parse(Files.readString(file));
        assertThat(submission.text("schema")).isEqualTo("trigon.submission/1");
        assertThat(submission.text("version")).isEqualTo("1.2.3");
        assertThat(submission.objects("measurements"))
                .hasSize(2)
                .allSatisfy(row -> assertThat(row.whole("bytes")).isEqualTo(4096))
                .anySatisfy(row -> assertThat(row.texts("carriers")).containsExactly("TCP"));
        assertThat(Files.readString(file))
                .doesNotContain("10.0.12.1", "eth1", "\"here\"", "127.0.0.1", "\"mac\"", "\"addresses\"");
    }

    @Test
    void aFileThatCannotBeWrittenIsSaidBeforeTheMeasurement() throws Exception {
        Path calls = folder.resolve("calls");

        Run run = Run.of(
                machine(GOOD.formatted(calls)),
                100,
                "bench",
                "--submit",
                folder.resolve("absent/file").toString());

        assertThat(run.status()).isNotZero();
        assertThat(run.err()).contains("absent/file");
        assertThat(calls).doesNotExist();
    }

    @Test
    void perftestGoesOverRdmaLinksOnly() throws Exception {
        Machine machine = machine(GOOD.formatted(folder.resolve("calls")));
        for (String program : List.of("ib_write_lat", "ib_write_bw")) {
            Path file = Files.writeString(folder.resolve(program), "#!/bin/sh\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Machine withPerftest =
                new Machine(machine.root(), Map.of("PATH", folder + ":/usr/bin:/bin"), "here", "1.2.3", machine.home());
        String[] command = "bench --meet 10.0.0.1:7000 --ranks 2 --rank 1 --sizes 64K --perftest".split(" ");

        Machine without =
                new Machine(machine.root(), Map.of("PATH", folder + "/none"), "here", "1.2.3", machine.home());
        Run none = Run.of(without, 100, command);
        Run software = Run.of(withPerftest, 100, command);

        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err()).contains("ib_write_lat", "install the package perftest");
        assertThat(software.status()).isEqualTo(1);
        assertThat(software.out()).contains("failed: --perftest", "eth1", "no RDMA link");
    }

    /** Reaches a node by this script. */
    private String via(String script) throws IOException {
        Path program = Files.writeString(folder.resolve("reach"), "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        return program.toString();
    }

    @Test
    void theOtherNodesRanksAreStartedFromHere() throws Exception {
        Path calls = folder.resolve("calls");
        Path remote = folder.resolve("remote");
        String via = via("echo \"$@\" >>%s; echo '{}'\n".formatted(remote));

        Run run = Run.of(
                machine(GOOD.formatted(calls)),
                100,
                ("bench --nodes b,here,c --sizes 64K --timeout 30 --meet 10.0.0.1:7000 --remote /opt/trigon --via "
                                + via)
                        .split(" "));

        assertThat(run.out()).as(run.err()).contains("here and b", "here and c", "all 3");
        assertThat(Files.readAllLines(calls)).hasSize(3).allMatch(line -> line.contains("--rank 0"));
        String options = " /opt/trigon bench --json --meet 10.0.0.1:7000 --ranks 3 --sizes 64K"
                + " --channels 1 --timeout 30"
                + " --until-end-of-input --rank ";
        assertThat(Files.readAllLines(remote)).containsExactlyInAnyOrder("b" + options + "1", "c" + options + "2");
    }

    @Test
    void theOtherNodesRanksHaveTheSameSettings() throws Exception {
        Path remote = folder.resolve("remote");
        String via = via("echo \"$@\" >>%s; echo '{}'\n".formatted(remote));
        Machine plain = machine(GOOD.formatted(folder.resolve("calls")));
        Machine machine = new Machine(
                plain.root(),
                Map.of("PATH", "/usr/bin:/bin", "TRIGON_LINKS", "software", "TRIGON_NODE", "here"),
                "here",
                "1.2.3",
                plain.home());

        Run run = Run.of(
                machine,
                100,
                ("bench --nodes here,b --sizes 4K --meet 10.0.0.1:7000 --remote /opt/trigon --via " + via).split(" "));

        assertThat(run.out()).as(run.err()).contains("here and b");
        assertThat(remote).content().startsWith("b env TRIGON_LINKS=software /opt/trigon bench --json");
    }

    @Test
    void aNodeThatIsNotReachedEndsIt() throws Exception {
        String via = via("echo there is no way to \"$1\" >&2; exit 255\n");

        Run run = Run.of(
                machine("exec sleep 100\n"),
                100,
                ("bench --nodes here,b --meet 10.0.0.1:7000 --via " + via).split(" "));

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("rank 1 on b failed with exit status 255", "there is no way to b");
    }

    @Test
    void theReasonOfAnotherNodeIsShownThoughItComesLater() throws Exception {
        Path failed = folder.resolve("failed");
        // its words and its end come when rank 0 has failed, however long it takes
        String via =
                via("while [ ! -e %s ]; do sleep 0.05; done; echo no memory there >&2; exit 7\n".formatted(failed));

        List<String> failures = failuresWithin(
                new PassingTime(Duration.ZERO),
                machine("echo peer lost >&2; touch %s; exit 1\n".formatted(failed)),
                "--nodes here,b --meet 10.0.0.1:7000 --via " + via);

        assertThat(failures)
                .singleElement()
                .asString()
                .contains("rank 0", "peer lost", "rank 1 on b failed", "no memory there");
    }

    @Test
    void theOtherNodesRanksEndWithIt() throws Exception {
        Path ended = folder.resolve("ended");
        // a program that survives what ends most of them, as a rank behind ssh does
        String via = via("trap '' TERM; cat >/dev/null; sleep 0.2; echo \"$1\" >>%s\n".formatted(ended));

        List<String> failures = failuresWithin(
                new PassingTime(Duration.ofSeconds(1)),
                machine("echo no memory here >&2; exit 1\n"),
                "--nodes here,b,c --meet 10.0.0.1:7000 --via " + via);

        assertThat(failures).singleElement().asString().contains("no memory here");
        Await.until(
                "both have ended", () -> Files.exists(ended) && linesOf(ended).size() == 2);
        assertThat(Files.readAllLines(ended)).containsExactlyInAnyOrder("b", "c");
    }

    /** What the command, which has to fail, ends with. */
    private static List<String> failuresWithin(Time time, Machine machine, String arguments) {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        Console console = new Console(nowhere, nowhere, false, false, 100);
        BenchCommand command = new BenchCommand(machine, console, InputStream.nullInputStream(), time);
        List<String> failures = new ArrayList<>();

        int status = new CommandLine(command)
                .setExecutionExceptionHandler((e, _, _) -> {
                    failures.add(String.valueOf(e.getMessage()));
                    return 1;
                })
                .execute(arguments.split(" "));

        assertThat(status).isEqualTo(1);
        return failures;
    }

    private static List<String> linesOf(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aRankEndsWithTheCommandThatStartedIt() throws Exception {
        List<String> failures = failuresWithin(
                Time.SYSTEM,
                machine("exec sleep 300\n"),
                "--meet 10.0.0.1:7000 --ranks 2 --rank 1 --until-end-of-input");

        assertThat(failures).singleElement().asString().contains("standard input has ended", "--via");
    }

    @Test
    void whereNodesMeetIsTheAddressThatIsUsedForThem() throws Exception {
        Path remote = folder.resolve("remote");
        String via = via("echo \"$@\" >>%s; echo '{}'\n".formatted(remote));
        Machine machine = machine(GOOD.formatted(folder.resolve("calls")));

        Run known = Run.of(machine, 100, ("bench --nodes here,127.0.0.2 --sizes 4K --via " + via).split(" "));
        Run unknown = Run.of(machine, 100, "bench --nodes here,b.invalid --sizes 4K".split(" "));

        assertThat(known.out()).as(known.err()).contains("here and ");
        assertThat(remote).content().contains("--meet 127.0.0.1:27600 ");
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("b.invalid", "--meet HOST:PORT");
    }

    @Test
    void aPairThatFailsIsARowWithItsReasonsAndTheOthersAreKept() throws Exception {
        String failing = "case \"$*\" in *:7001*) echo no path to c >&2; exit 1;; esac\n";
        String theirs = "{\"host\": \"c\", \"measurements\":"
                + " [{\"test\": \"point-to-point\", \"ranks\": [0, 2], \"bytes\": 65536, \"channels\": 1,"
                + " \"failed\": \"no cable there\"},"
                + " {\"test\": \"all-reduce\", \"ranks\": [0, 1, 2], \"bytes\": 65536, \"channels\": 1, \"networks\":"
                + " [{\"link\": \"cb\", \"interface\": \"cb\", \"subnet\": \"10.0.23.0/24\", \"carrier\": \"TCP\","
                + " \"relays\": \"b over TCP\"}]}]}";
        String command = "bench --nodes here,b,c --sizes 64K --meet 10.0.0.1:7000 --remote /t --via "
                + via("echo '" + theirs + "'\n");
        Machine machine = machine(failing + GOOD.formatted(folder.resolve("calls")));

        Run text = Run.of(machine, 100, command.split(" "));
        Run json = Run.of(machine, 100, (command + " --json").split(" "));

        assertThat(text.status()).isEqualTo(1);
        assertThat(text.out())
                .containsPattern("here and b +64 KiB +3 +50.0 +1.311 +2500.0 +eth1 10.0.12.0/24 TCP")
                .containsPattern("here and c +64 KiB +- +- +- +- +failed")
                .containsPattern("all-reduce +all 3 +64 KiB +3 ")
                .contains("c: cb 10.0.23.0/24", "relayed by b over TCP")
                .contains("failed: here and c: point-to-point of 64 KiB", "no path to c", "c: no cable there");
        assertThat(json.status()).isEqualTo(1);
        JsonObject document = JsonObject.parse(json.out());
        assertThat(document.values()).containsEntry("good", false);
        assertThat(document.objects("measurements"))
                .satisfiesExactly(
                        good -> assertThat(good.objects("networks"))
                                .singleElement()
                                .satisfies(network -> {
                                    assertThat(network.text("interface")).isEqualTo("eth1");
                                    assertThat(network.text("subnet")).isEqualTo("10.0.12.0/24");
                                    assertThat(network.text("carrier")).isEqualTo("TCP");
                                    assertThat(network.values()).containsEntry("bootstrap", false);
                                }),
                        failed -> assertThat(failed.text("failed")).contains("no path to c"),
                        all -> assertThat(all.text("test")).isEqualTo("all-reduce"));
    }

    /** The others' pairs, and what they say, need that node no more than its own pair needs theirs. */
    @Test
    void aNodeThatIsNotReachedFailsItsPairsAlone() throws Exception {
        String via = via("[ \"$1\" = b ] || { echo no way to \"$1\" >&2; exit 255; }; echo '{}'\n");

        Run run = Run.of(
                machine(GOOD.formatted(folder.resolve("calls"))),
                100,
                ("bench --nodes here,b,c --sizes 4K --meet 10.0.0.1:7000 --remote /t --via " + via).split(" "));

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .containsPattern("here and b +4 KiB +3 ")
                .contains("rank 2 on c failed with exit status 255", "no way to c");
    }

    @Test
    void aRowNamesItsNetworkWithItsRelaysAndWhetherItIsTheBootstraps() {
        List<LocalLink> links = List.of(Links.software("eth1", 1_000), Links.rdma("rocep1s0"));

        assertThat(Network.of(
                        List.of(
                                "sends to b 10.0.12.2 via eth1 10.0.12.1/24 (TCP), same subnet /24: TCP, 1 Gb/s",
                                "sends to c 10.0.23.3 via rocep1s0 10.0.12.1/24 (RDMA), relayed by b over RDMA: RDMA",
                                "sends to d by 2 queue pairs over [d 10.9.0.4 via eth2 10.9.0.1/16 (TCP), routed: TCP,"
                                        + " d fd00:1::4 via eth3 fd00:1::1/64 (TCP), same subnet: TCP]",
                                "the connection to b goes on over eth4 10.8.0.1/24 (TCP) relayed by c, d over TCP"
                                        + " instead of eth1 10.0.12.1/24 (TCP) after 5 ms"),
                        links,
                        Set.of("eth2"))
                        .stream())
                .extracting(Network::toString)
                .containsExactly(
                        "eth1 10.0.12.0/24 TCP",
                        "rocep1s0 (eth1) 10.0.12.0/24 RDMA, relayed by b over RDMA",
                        "eth2 10.9.0.0/16 TCP, bootstrap",
                        "eth3 fd00:1::/64 TCP",
                        "eth4 10.8.0.0/24 TCP, relayed by c, d over TCP");
    }

    @Test
    void withoutACommonNetworkEachNodeMeetsRank0AtItsOwnAddress() throws Exception {
        Meetings meetings = new Meetings(folder, 3, List.of("10.0.12.2", "10.0.23.2"), 700);
        List<BenchStep> steps = BenchStep.of(3, false, Kind.ALL_REDUCE, List.of(4096L));

        assertThat(meetings.of(steps.get(0), 0)).isEqualTo("10.0.12.2:700");
        assertThat(meetings.of(steps.get(1), 1)).isEqualTo("10.0.23.2:701");
        assertThat(meetings.of(steps.get(2), 2)).as("rank 0 listens at both").isEqualTo("0.0.0.0:702");
        assertThat(Meetings.hostsFor(List.of("127.0.0.1", "b.invalid"))).containsExactly("127.0.0.1", "127.0.0.1");
    }

    @Test
    void wrongDataAndAProgramThatFailsAreErrors() throws Exception {
        Run wrong = Run.of(machine("echo '{\"wrong\": 7, \"round_us\": [1.5]}'\n"), 100, "bench", "--sizes", "4K");
        Run failed = Run.of(machine("echo it broke >&2; exit 1\n"), 100, "bench", "--sizes", "4K");

        assertThat(wrong.status()).isEqualTo(1);
        assertThat(wrong.out()).contains("14 elements were wrong");
        assertThat(failed.status()).isEqualTo(1);
        assertThat(failed.err()).contains("failed on rank 0", "it broke");
    }

    @Test
    void wrongCommandLinesAreErrors() throws Exception {
        Machine machine = machine("exit 1\n");
        for (String line : List.of(
                "bench --ranks 1",
                "bench --ranks 9",
                "bench --rank 0",
                "bench --meet 10.0.0.1:7000",
                "bench --meet 10.0.0.1 --rank 0",
                "bench --meet 10.0.0.1:65535 --rank 0",
                "bench --meet 10.0.0.1:7000 --rank 2",
                "bench --perftest",
                "bench --nodes here",
                "bench --nodes here,here",
                "bench --nodes a,b",
                "bench --nodes here,-oProxyCommand=x",
                "bench --nodes here,b --ranks 2",
                "bench --nodes here,b --meet 10.0.0.1",
                "bench --sizes 3",
                "bench --sizes 2G",
                "bench --timeout 0")) {
            assertThat(Run.of(machine, 100, line.split(" ")).status()).as(line).isEqualTo(2);
        }
        assertThat(Run.of("bench").err()).contains("needs a distribution");
    }

    @Test
    void aLinkIsHeldAgainstItsSpeed() {
        assertThat(verdict(1_000).good()).as("as much as it can").isTrue();
        assertThat(verdict(10_000)).satisfies(each -> {
            assertThat(each.good()).isFalse();
            assertThat(each.text()).contains("what eth1 promises", "10000 Mbit/s", "too little");
            assertThat(each.share().orElseThrow()).isCloseTo(0.084, within(0.001));
        });
        assertThat(verdict(0).text()).contains("speed is unknown");
    }

    @Test
    void nodesAreCalledByTheirNamesAndFailoversAreSaid() throws Exception {
        String failover = "rank 0: NCCL INFO NET/Trigon : the connection to b goes on over"
                + " eth2 10.0.13.1/24 (TCP) instead of eth1 10.0.12.1/24 (TCP) after 5 ms";
        String theirs = "{\"host\": \"b\", \"ways\": []}";

        Run run = Run.of(
                machine(GOOD.formatted(folder.resolve("calls")) + "echo '%s' >&2\n".formatted(failover)),
                100,
                ("bench --nodes here,b --sizes 64K --timeout 30 --meet 10.0.0.1:7000 --remote /opt/trigon --via "
                                + via("echo '" + theirs + "'\n"))
                        .split(" "));

        assertThat(run.out())
                .as(run.err())
                .contains("nodes", "here and b")
                .contains("the connection to b goes on over eth2 10.0.13.1/24 (TCP) instead of eth1")
                .contains("A connection failed over during the measurement");
    }

    @Test
    void eachPairOfATriangleIsHeldAgainstItsOwnLink() {
        List<LocalLink> equal = List.of(Links.software("eth1", 1_000), Links.software("eth2", 1_000));
        List<LocalLink> faster = List.of(Links.software("eth1", 1_000), Links.software("eth2", 10_000));
        List<BenchRow> measured = List.of(
                carried(1, 40_000, equal.get(0)), carried(1, 20_000, equal.get(0)), carried(2, 20_000, equal.get(1)));

        assertThat(Verdict.of(measured, false, equal, List.of())).satisfies(each -> {
            assertThat(each.good()).as(each.text()).isTrue();
            assertThat(each.share().orElseThrow()).isCloseTo(0.839, within(0.001));
        });
        assertThat(Verdict.of(measured, false, faster, List.of())).satisfies(each -> {
            assertThat(each.good()).isFalse();
            assertThat(each.text())
                    .contains("ranks 0 and 2", "eth2", "10000 Mbit/s")
                    .doesNotContain("eth1");
            assertThat(each.share().orElseThrow()).isCloseTo(0.084, within(0.001));
        });
    }

    @Test
    void figuresThatOnlyTheOtherEndHasAreAdded() {
        JsonObject theirs = JsonObject.parse(
                Json.text(withFigures(Optional.of(9.0), Optional.of(2.0)).json()));

        BenchResult both = withFigures(Optional.of(3.25), Optional.empty()).with(List.of(theirs), List.of());

        assertThat(both.figures())
                .isEqualTo(withFigures(Optional.of(3.25), Optional.of(2.0)).figures());
    }

    private static BenchResult withFigures(Optional<Double> micros, Optional<Double> gigabytes) {
        return new BenchResult(
                List.of(),
                List.of(),
                List.of(new Perftest.Figures(List.of(0, 1), 65_536, micros, gigabytes)),
                List.of(),
                verdict(0));
    }

    private static BenchRow carried(int other, double micros, LocalLink link) {
        return new BenchRow(
                new BenchStep(Kind.POINT_TO_POINT, List.of(0, other), 1 << 20),
                List.of(micros),
                0,
                List.of("sends to b via " + link + ": TCP"),
                List.of(),
                "");
    }

    /** A message of 1 MiB in 10 ms is 0.105 GB/s, or 839 Mbit/s. */
    private static Verdict verdict(int speedMbps) {
        LocalLink link = Links.software("eth1", speedMbps);
        return Verdict.of(List.of(carried(1, 20_000, link)), false, List.of(link), List.of());
    }
}
