package trigon.policy.commands.tune;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import trigon.cluster.facts.TunedTable;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.NcclLibrary;
import trigon.system.file.Folder;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;
import trigon.tools.machine.ProcessFacts;

/** The user's program, which is run under policies with a trace. One thread. */
final class TunedProgram {

    private static final int BETWEEN_LOOKS_SECONDS = 1;

    private final Machine machine;
    private final List<String> command;
    private String library = "";

    TunedProgram(Machine machine, List<String> command) {
        this.machine = machine;
        this.command = command;
    }

    /**
     * Runs it.
     *
     * @param policy that its processes load
     * @param traces the folder of their traces, which does not exist
     * @throws CommandFailure if it cannot be started, or fails
     */
    TracedRun run(Path policy, Path traces) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().put("TRIGON_POLICY", policy.toString());
        builder.environment().put("TRIGON_TRACE", traces.toString());
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new CommandFailure("cannot run %s: %s; give a program and its arguments after --"
                    .formatted(command.getFirst(), UserFiles.reason(e)));
        }
        try {
            while (!process.waitFor(BETWEEN_LOOKS_SECONDS, TimeUnit.SECONDS)) {
                findNccl(traces);
            }
        } finally {
            process.destroy();
        }
        if (process.exitValue() != 0) {
            throw new CommandFailure("%s failed with exit status %d under the policy %s: it has said why"
                    .formatted(command.getFirst(), process.exitValue(), policy));
        }
        return TracedRun.read(traces);
    }

    /** Looks which library the processes of this machine have that write traces: their names have the numbers. */
    private void findNccl(Path traces) throws IOException {
        if (!library.isEmpty() || !Files.isDirectory(traces)) {
            return;
        }
        String prefix = machine.hostName() + "-";
        library = Folder.entries(traces).stream()
                .map(trace -> String.valueOf(trace.getFileName()))
                .filter(name -> name.startsWith(prefix))
                .map(name -> name.substring(prefix.length()).replaceFirst("-.*", ""))
                .filter(pid -> pid.matches("\\d{1,10}"))
                .flatMap(pid -> ProcessFacts.of(machine, Long.parseLong(pid)).nccl().stream())
                .findFirst()
                .orElse("");
    }

    /** Library, its version and this node's links, with which the program has run; the doctor compares them. */
    String madeFor() {
        return TunedTable.text(
                library,
                library.isEmpty() ? "" : NcclLibrary.version(machine, library).orElse(""),
                Map.of(machine.hostName(), TunedTable.linksOf(MachineLinks.of(machine))));
    }
}
