package trigon.policy.commands;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import trigon.cluster.machine.Machine;
import trigon.policy.report.PolicyReport;
import trigon.policy.report.ReportFile;
import trigon.system.file.ProcessUsers;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.OwnRights;

/** The processes of this machine that have a policy. */
final class PolicyProcesses {

    private final Machine machine;

    PolicyProcesses(Machine machine) {
        this.machine = machine;
    }

    /**
     * A process, and what it says of its policy.
     *
     * @param pid its number
     * @param command its program's name
     */
    record PolicyProcess(long pid, String command, PolicyReport report) {}

    /** All that this user may look into. */
    List<PolicyProcess> all() {
        return those(process -> true);
    }

    /** Those that run as this user alone: what others' processes say is for show, not to act on. */
    List<PolicyProcess> ofThisUser() {
        return those(this::isOfThisUser);
    }

    private boolean isOfThisUser(long pid) {
        try {
            return ProcessUsers.isOf(ProcessUsers.own(), folder(pid));
        } catch (IOException _) {
            return false; // gone meanwhile
        }
    }

    private List<PolicyProcess> those(LongPredicate wanted) {
        List<PolicyProcess> found = new ArrayList<>();
        for (Path folder : Machine.entries(machine.file("/proc"))) {
            String name = folder.getFileName().toString();
            if (name.matches("[0-9]+")) {
                try {
                    long pid = Long.parseLong(name);
                    if (wanted.test(pid)) {
                        read(pid).ifPresent(found::add);
                    }
                } catch (IOException _) {
                    // another user's, or gone meanwhile
                }
            }
        }
        return found;
    }

    /** @throws CommandFailure if there is no such process, it may not be looked into, or has no policy */
    PolicyProcess one(long pid) {
        Path folder = folder(pid);
        if (!folder.toFile().isDirectory()) {
            throw new CommandFailure(
                    "there is no process " + pid + "; \"trigon policy list\" shows those with a policy");
        }
        try {
            return read(pid)
                    .orElseThrow(() -> new CommandFailure(
                            "process %d has no policy: TRIGON_POLICY has to name one when the job starts"
                                    .formatted(pid)));
        } catch (IOException e) {
            throw new CommandFailure("process %d cannot be inspected: %s; %s".formatted(pid, e, OwnRights.toInspect()));
        }
    }

    /** @throws CommandFailure as {@link #one}, or if it is another user's */
    PolicyProcess oneOfThisUser(long pid) {
        PolicyProcess process = one(pid);
        if (!isOfThisUser(pid)) {
            throw new CommandFailure(
                    "process %d belongs to another user; name the file to replace, or run this as that user"
                            .formatted(pid));
        }
        return process;
    }

    private Path folder(long pid) {
        return machine.file("/proc/" + pid);
    }

    private Optional<PolicyProcess> read(long pid) throws IOException {
        Path folder = folder(pid);
        String command = Machine.line(folder.resolve("comm")).orElse("?");
        return ReportFile.read(folder).map(report -> new PolicyProcess(pid, command, report));
    }
}
