package trigon.policy.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import trigon.cluster.machine.Machine;
import trigon.policy.report.PolicyReport;
import trigon.policy.report.ReportFile;
import trigon.system.file.ProcessUsers;
import trigon.tools.PassingTime;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;

/** What processes say of their policies: for how long, and whose is acted on. */
class PolicyProcessesTest {

    private static final int OWN = 11;
    private static final int OTHER = 12;

    @TempDir
    private Path root;

    /** A process that has a report open; what it does, it does as these users. */
    private void process(int pid, String policy, int... users) throws IOException {
        Path folder = Files.createDirectories(root.resolve("proc").resolve(Integer.toString(pid)));
        Files.writeString(folder.resolve("comm"), "job\n");
        Files.writeString(
                folder.resolve("status"), "Uid:\t%d\t%d\t%d\t%d\n".formatted(users[0], users[1], users[2], users[3]));
        Path file = folder.resolve("trigon-policy-1 (deleted)");
        try (ReportFile report = ReportFile.create(root)) {
            report.write(new PolicyReport(policy, "", "", "", List.of(), List.of(), List.of()));
            Files.copy(ownReport(), file);
        }
        Files.createSymbolicLink(Files.createDirectory(folder.resolve("fd")).resolve("5"), file);
    }

    private Path ownReport() throws IOException {
        for (Path descriptor : Machine.entries(Path.of("/proc/self/fd"))) {
            try {
                if (Files.readSymbolicLink(descriptor).startsWith(root)) {
                    return descriptor;
                }
            } catch (NoSuchFileException _) {
                // another test has closed it meanwhile
            }
        }
        throw new AssertionError("no report is open");
    }

    @Test
    void onlyProcessesOfThisUserAreActedOn() throws IOException {
        int own = ProcessUsers.own();
        process(OWN, "/p.o", own, own, own, own);
        process(OTHER, "/p.o", own, own + 1, own, own);
        PolicyProcesses processes = new PolicyProcesses(new Machine(root, Map.of(), "host", "1", Optional.empty()));

        assertThat(processes.all()).hasSize(2);
        assertThat(processes.ofThisUser())
                .singleElement()
                .satisfies(process -> assertThat(process.pid()).isEqualTo(OWN));
        assertThat(processes.oneOfThisUser(OWN).report().file()).isEqualTo("/p.o");
        assertThat(catchThrowableOfType(CommandFailure.class, () -> processes.oneOfThisUser(OTHER)))
                .hasMessageContaining("process 12 belongs to another user");
    }

    @Test
    void aNewVersionIsNotAwaitedForLong() throws IOException {
        int own = ProcessUsers.own();
        Path target = root.resolve("p.o");
        process(OWN, target.toString(), own, own, own, own);
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        Console console = new Console(
                new PrintStream(shown, true, StandardCharsets.UTF_8),
                new PrintStream(OutputStream.nullOutputStream()),
                false,
                false,
                100);
        PassingTime time = new PassingTime(Duration.ofSeconds(4));
        long begin = time.nanoTime();
        LoadCommand load = new LoadCommand(new Machine(root, Map.of(), "host", "1", Optional.empty()), console, time);

        int status = new CommandLine(load)
                .execute(Path.of("..", "examples", "noop.o").toString(), target.toString());

        assertThat(status).isEqualTo(1);
        assertThat(shown.toString(StandardCharsets.UTF_8)).contains("has not checked it yet");
        assertThat(time.nanoTime() - begin).isEqualTo(Duration.ofSeconds(12).toNanos());
    }
}
