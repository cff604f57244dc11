package trigon.tools.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.report.PolicyReport;
import trigon.policy.report.ReportFile;
import trigon.system.file.ProcessUsers;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.Machine;

/** What a process says of its policy is acted on only if it is this user's. */
class PolicyProcessesTest {

    private static final int OWN = 11;
    private static final int OTHER = 12;

    @TempDir
    private Path root;

    /** A process that has a report open; what it does, it does as these users. */
    private void process(int pid, int... users) throws IOException {
        Path folder = Files.createDirectories(root.resolve("proc").resolve(Integer.toString(pid)));
        Files.writeString(folder.resolve("comm"), "job\n");
        Files.writeString(
                folder.resolve("status"), "Uid:\t%d\t%d\t%d\t%d\n".formatted(users[0], users[1], users[2], users[3]));
        Path file = folder.resolve("trigon-policy-1 (deleted)");
        try (ReportFile report = ReportFile.create(root)) {
            report.write(new PolicyReport("/p.o", "", "", "", List.of(), List.of(), List.of()));
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
        process(OWN, own, own, own, own);
        process(OTHER, own, own + 1, own, own);
        PolicyProcesses processes = new PolicyProcesses(new Machine(root, Map.of(), "host", "1", Optional.empty()));

        assertThat(processes.all()).hasSize(2);
        assertThat(processes.ofThisUser())
                .singleElement()
                .satisfies(process -> assertThat(process.pid()).isEqualTo(OWN));
        assertThat(processes.oneOfThisUser(OWN).report().file()).isEqualTo("/p.o");
        assertThat(catchThrowableOfType(CommandFailure.class, () -> processes.oneOfThisUser(OTHER)))
                .hasMessageContaining("process 12 belongs to another user");
    }
}
