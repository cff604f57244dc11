package trigon.tools.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import trigon.cluster.machine.Machine;
import trigon.tools.PassingTime;
import trigon.tools.Run;
import trigon.tools.console.Console;
import trigon.tools.console.Time;
import trigon.transport.metrics.LinkCounters;
import trigon.transport.metrics.Metrics;
import trigon.transport.metrics.PathCounters;

/** The job is this process, on a machine whose NICs and libraries are the test's own. */
@Timeout(120)
class VerifyCommandTest {

    private static final String PID = Long.toString(ProcessHandle.current().pid());

    @TempDir
    Path folder;

    private Machine machine(String... libraries) throws IOException {
        Path process = Files.createDirectories(folder.resolve("proc/" + PID));
        Files.writeString(process.resolve("comm"), "trainer\n");
        StringBuilder maps = new StringBuilder("7f00-7f01 r-xp 00000000 08:01 1    /usr/lib/libc.so.6\n");
        for (String library : libraries) {
            maps.append("7f00-7f01 r-xp 00001000 08:01 1    ").append(library).append('\n');
            maps.append("7f02-7f03 r--p 00003000 08:01 1    ").append(library).append('\n');
        }
        Files.writeString(process.resolve("maps"), maps);
        Files.createDirectories(folder.resolve("opt/trigon/lib"));
        Files.writeString(folder.resolve("opt/trigon/release"), "TRIGON_VERSION=\"9.8.7\"\n");
        Files.writeString(
                Files.createDirectories(folder.resolve("usr/lib")).resolve("libnccl.so.2"),
                "\0".repeat(3000) + "NCCL version %d.%d\0NCCL version 2.27.7+cuda12.9\0");
        return new Machine(folder, Map.of(), "here", "1.2.3", Optional.empty());
    }

    private void nic(String name, long bytes) throws IOException {
        Path statistics = Files.createDirectories(folder.resolve("sys/class/net/" + name + "/statistics"));
        for (String counter : new String[] {"rx_bytes", "tx_bytes"}) {
            Path next = Files.writeString(folder.resolve("next"), bytes / 2 + "\n");
            Files.move(next, statistics.resolve(counter), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** While the command watches, the job sends, and both NICs count. */
    private Run whileSending(Machine machine, long bytesOfEth1, String... arguments) throws Exception {
        nic("eth0", 50);
        nic("eth1", 5_000);
        try (Metrics metrics = Metrics.shared(Path.of("/dev/shm"))) {
            LinkCounters link = metrics.link("eth1", "TCP", 10_000);
            try (PathCounters path = link.path("sender")) {
                path.message(400_000_000);
                Time whileTheJobSends = new PassingTime(Duration.ofMillis(100)) {
                    private long sum;

                    @Override
                    public void sleep(Duration time) throws InterruptedException {
                        path.message(10_000_000);
                        sum += bytesOfEth1;
                        try {
                            nic("eth1", 5_000 + sum);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                        super.sleep(time);
                    }
                };
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                ByteArrayOutputStream err = new ByteArrayOutputStream();
                Console console = new Console(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8),
                        false,
                        false,
                        100);
                int status = new CommandLine(new VerifyCommand(machine, console, whileTheJobSends)).execute(arguments);
                return new Run(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
            }
        }
    }

    @Test
    void aJobWhoseNicCountsItsBytesIsGood() throws Exception {
        Machine machine = machine("/usr/lib/libnccl.so.2", "/opt/trigon/lib/libnccl-net-trigon.so");

        Run run = whileSending(machine, 30_000_000, "--pid", PID, "--seconds", "1");

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("2.27.7+cuda12.9 (/usr/lib/libnccl.so.2)")
                .contains("9.8.7", "(/opt/trigon/lib/libnccl-net-trigon.so)")
                .contains("eth1", "the NICs' counters agree");
    }

    @Test
    void aJobWhoseNicDoesNotIsWrong() throws Exception {
        Machine machine = machine("/usr/lib/libnccl.so.2", "/opt/trigon/lib/libnccl-net-trigon.so");

        Run run = whileSending(machine, 1_000, "--pid", PID, "--seconds", "1", "--json");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .startsWith("{\n  \"schema\": \"trigon.verify/1\"")
                .contains("\"good\": false", "the traffic took another interface", "\"version\": \"2.27.7+cuda12.9\"");
    }

    @Test
    void aCommandIsRunAndItsEndIsTold() throws Exception {
        Run run = Run.of("verify", "--", "sh", "-c", "echo said; echo failed >&2; exit 3");
        Run json = Run.of("verify", "--json", "--", "sh", "-c", "echo said");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("said\n").contains("ended with 3", "no process loaded this version of Trigon");
        assertThat(run.err()).contains("failed");
        assertThat(json.out()).startsWith("{").contains("\"status\": 0", "\"good\": false");
        assertThat(json.err()).contains("said");
    }

    @Test
    void aDaemonThatACommandLeavesBehindIsNotWaitedFor() {
        Run run = Run.of("verify", "--", "sh", "-c", "sleep 300 & echo daemon $!; exit 3");

        Matcher daemon = Pattern.compile("daemon (\\d+)").matcher(run.out());
        assertThat(daemon.find()).as(run.out() + run.err()).isTrue();
        ProcessHandle left = ProcessHandle.of(Long.parseLong(daemon.group(1))).orElseThrow();
        try {
            assertThat(run.out()).contains("ended with 3");
            assertThat(left.isAlive()).isTrue();
        } finally {
            left.destroyForcibly();
        }
    }

    @Test
    void wrongCommandLinesAreErrors() {
        assertThat(Run.of("verify").status()).isEqualTo(2);
        assertThat(Run.of("verify").err()).contains("--pid", "trigon help verify");
        assertThat(Run.of("verify", "--pid", "1", "--", "true").status()).isEqualTo(2);
        assertThat(Run.of("verify", "--pid", "1", "--seconds", "0").status()).isEqualTo(2);
        assertThat(Run.of("verify", "--pid", "x").status()).isEqualTo(2);
        assertThat(Run.of("verify", "--pid", "999999999").err()).contains("there is no process 999999999");
        assertThat(Run.of("verify", "--", "/no/such/program").err()).contains("cannot run /no/such/program");
    }
}
