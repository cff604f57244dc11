package trigon.policy.commands;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.report.PolicyReport;
import trigon.policy.report.ReportFile;
import trigon.tools.Run;

class PolicyCommandTest {

    private static final Path EXAMPLES = Path.of("../examples");
    private static final Path OWN = Path.of("../engine/src/test/c");

    @TempDir
    Path scratch;

    private static String example(String name) {
        return EXAMPLES.resolve(name + ".o").toString();
    }

    @Test
    void everyExampleIsAccepted() throws IOException {
        List<String> objects;
        try (var files = Files.list(EXAMPLES)) {
            objects = files.map(Path::toString)
                    .filter(file -> file.endsWith(".o"))
                    .sorted()
                    .toList();
        }
        assertThat(objects).hasSizeGreaterThanOrEqualTo(10);
        for (String object : objects) {
            Run run = Run.of("policy", "verify", object);
            assertThat(run.status()).as(object + run.err()).isZero();
            assertThat(run.out()).contains("accepted  " + object);
        }
    }

    @Test
    void verifySaysWhatIsRefusedAndWhy() throws IOException {
        Path broken = Files.writeString(scratch.resolve("broken.o"), "no object");

        Run text = Run.of("policy", "verify", example("noop"), broken.toString());
        Run json = Run.of("policy", "verify", "--json", broken.toString());

        assertThat(text.status()).isEqualTo(1);
        assertThat(text.out()).contains("accepted  " + example("noop"), "refused   " + broken, "broken.o");
        assertThat(json.status()).isEqualTo(1);
        assertThat(json.out())
                .contains("\"schema\": \"trigon.policy-verify/1\"", "\"accepted\": false", "\"kind\": \"object\"");
    }

    @Test
    void testShowsWhatIsDecidedForEachRangeOfSizes() {
        Run run = Run.of("policy", "test", example("size_aware"), "--collective", "all-reduce");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("4M +32M +ring, LL128").containsPattern("64M +128M +ring, Simple");
        assertThat(run.out().lines().filter(line -> line.contains("left to NCCL")))
                .hasSize(2);
    }

    /** What a job would not do is not shown as if it did. */
    @Test
    void testShowsWhatNcclDoesNot() {
        Run run = Run.of("policy", "test", OWN.resolve("halves.o").toString());

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("left to NCCL; ring is not used without a protocol")
                .contains("4 channels; Simple is not used without an algorithm")
                .contains("left to NCCL; NCCL has no tree, Simple for broadcast")
                .contains("left to NCCL; NCCL has no nvls, LL: the protocol has to be Simple")
                .doesNotContainPattern("ring *$");
        assertThat(Run.of("policy", "test", OWN.resolve("halves.o").toString(), "--collective", "all-gather", "--json")
                        .out())
                .contains("\"leftToNccl\": true")
                .doesNotContain("\"leftToNccl\": false");
    }

    @Test
    void testAsksPoliciesOfNcclBpf() {
        Run run = Run.of("policy", "test", OWN.resolve("ncclbpf_counts.o").toString(), "--collective", "all-reduce");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("8 +4K +1 channel").containsPattern("8K +8G +ring, Simple");
    }

    @Test
    void testTakesSizesRanksAndNodes() {
        Run run = Run.of(
                "policy", "test", example("noop"), "--sizes", "64K,3M", "--ranks", "8", "--nodes", "2", "--json");

        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains(
                        "\"schema\": \"trigon.policy-test/1\"",
                        "\"ranks\": 8",
                        "\"bytes\": 65536",
                        "\"bytes\": 3145728");
    }

    @Test
    void wrongOptionsAreNamed() {
        assertThat(Run.of("policy", "test", example("noop"), "--sizes", "12Q").err())
                .contains("12Q", "trigon help policy test");
        assertThat(Run.of("policy", "test", example("noop"), "--collective", "all2all")
                        .err())
                .contains("all2all", "all-reduce");
        assertThat(Run.of("policy", "test", example("noop"), "--ranks", "2", "--nodes", "3")
                        .status())
                .isEqualTo(2);
        assertThat(Run.of("policy").status()).isEqualTo(2);
        assertThat(Run.of("policy", "verify", "/no/such.o").err())
                .contains("cannot read /no/such.o: there is no such file");
    }

    @Test
    void testNeedsATuner() {
        Run run = Run.of("policy", "test", example("latency_histogram"));

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("no program in the section tuner", "profiler");
    }

    @Test
    void aProcessWithAPolicyIsListedWithWhatItDecided() throws IOException {
        Path directory = Path.of("/dev/shm");
        try (ReportFile file = ReportFile.create(directory)) {
            file.write(new PolicyReport(
                    scratch.resolve("p.o").toString(),
                    "p.o (tuner decide; 0123)",
                    "0123",
                    "",
                    List.of(new PolicyReport.Stopped("process", "profiler", 3)),
                    List.of(new PolicyReport.Tuner("communicator 0x1 of 4 ranks on 2 nodes", "0123", 7, 8, 9)),
                    List.of(new PolicyReport.MapContent(
                            "process", "counts", "array", List.of(new PolicyReport.Entry("00000000", "2a00"))))));
            String pid = Long.toString(ProcessHandle.current().pid());

            assertThat(Run.of("policy", "list").out()).contains(pid, "p.o (tuner decide; 0123)");
            assertThat(Run.of("policy", "stat", "--pid", pid).out())
                    .contains(
                            "3 runs of profiler, of process",
                            "communicator 0x1 of 4 ranks on 2 nodes",
                            "map counts (array) of process",
                            "2a00");
            assertThat(Run.of("policy", "stat", "--pid", pid, "--json").out())
                    .contains(
                            "\"stopped\": 3",
                            "\"section\": \"profiler\"",
                            "\"decided\": 7",
                            "\"leftToNccl\": 8",
                            "\"impossible\": 9",
                            "\"value\": \"2a00\"");
        }
    }

    @Test
    void aProcessWithoutOneIsAnError() {
        String pid = Long.toString(ProcessHandle.current().pid());

        assertThat(Run.of("policy", "stat", "--pid", pid).err()).contains("has no policy", "TRIGON_POLICY");
        assertThat(Run.of("policy", "stat", "--pid", "99999999").err()).contains("there is no process 99999999");
    }

    @Test
    void loadReplacesInOneStepAndOnlyWhatIsAccepted() throws IOException {
        Path target = scratch.resolve("policy.o");
        Path broken = Files.writeString(scratch.resolve("broken.o"), "no object");

        assertThat(Run.of("policy", "load", broken.toString(), target.toString())
                        .err())
                .contains("was refused; nothing was changed");
        assertThat(target).doesNotExist();
        Run run = Run.of("policy", "load", example("size_aware"), target.toString());

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("none of your processes has loaded it yet");
        assertThat(target).hasBinaryContent(Files.readAllBytes(EXAMPLES.resolve("size_aware.o")));
        try (var files = Files.list(scratch)) {
            assertThat(files).hasSize(2);
        }
    }

    /** A mistyped path, or what a process says of itself, costs no file that is no policy. */
    @Test
    void loadReplacesPoliciesOnly() throws IOException {
        Path notes = Files.writeString(scratch.resolve("notes.txt"), "not a policy");
        Path program = Files.copy(Path.of("/bin/true"), scratch.resolve("true"));
        Path folder = Files.createDirectory(scratch.resolve("folder"));
        Path mistaken = Files.copy(OWN.resolve("unsafe_stack.o"), scratch.resolve("mistaken.o"));
        Path link = Files.createSymbolicLink(scratch.resolve("link.o"), notes);

        for (Path target : List.of(notes, program, folder, link)) {
            Run run = Run.of("policy", "load", example("noop"), target.toString());
            assertThat(run.status()).as(target.toString()).isEqualTo(1);
            assertThat(run.err()).contains(target.toString());
        }
        assertThat(notes).hasContent("not a policy");
        assertThat(program).hasSameBinaryContentAs(Path.of("/bin/true"));
        assertThat(link).isSymbolicLink();
        Run mended = Run.of("policy", "load", example("noop"), mistaken.toString());
        assertThat(mended.status()).as(mended.err()).isZero();
        assertThat(mistaken).hasSameBinaryContentAs(EXAMPLES.resolve("noop.o"));
    }
}
