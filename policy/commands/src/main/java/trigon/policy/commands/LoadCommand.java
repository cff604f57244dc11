package trigon.policy.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.policy.Policy;
import trigon.policy.PolicyException;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.console.Time;
import trigon.tools.console.UserFiles;

/** {@code trigon policy load}: puts a new version where running processes find it, and says whether they took it. */
@Command(
        name = "load",
        description = {
            "Verify a policy and load it into running processes.",
            "Atomically replaces the file that TRIGON_POLICY names in processes on this machine. They load it"
                    + " within a second.",
            "Run it on every node before communicators that span several nodes begin."
        })
final class LoadCommand extends ToolCommand {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Set<PosixFilePermission> READ_BY_ALL = PosixFilePermissions.fromString("rw-r--r--");
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final PolicyProcesses processes;
    private final Time time;

    @Parameters(index = "0", paramLabel = "FILE", description = "The new object.")
    private Path file = Path.of("");

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "TARGET",
            description = "The file to replace. Default: the one that all of your processes use.")
    private String target = "";

    @Option(
            names = "--pid",
            paramLabel = "N",
            defaultValue = "0",
            description = "Replace the file that this process uses.")
    private long pid;

    @Option(names = "--json", description = "The result as JSON, schema trigon.policy-load/1.")
    private boolean json;

    LoadCommand(Machine machine, Console console) {
        this(machine, console, Time.SYSTEM);
    }

    /** With another time to wait for the processes. */
    LoadCommand(Machine machine, Console console, Time time) {
        super(machine, console);
        processes = new PolicyProcesses(machine);
        this.time = time;
    }

    @Override
    public Integer call() throws InterruptedException {
        PolicyObjectFile object = PolicyObjectFile.read(file);
        String digest = verified(object).digest();
        Path place = place();
        replace(place, object.bytes());
        List<PolicyProcesses.PolicyProcess> users = follow(place, digest);
        if (json) {
            printJson("trigon.policy-load/1", json(place, digest, users));
        } else {
            print(place, digest, users);
        }
        return users.stream().allMatch(each -> hasTaken(each, digest)) ? 0 : 1;
    }

    private Policy verified(PolicyObjectFile object) {
        try {
            return object.load().active().orElseThrow();
        } catch (PolicyException e) {
            throw new CommandFailure("%s was refused; nothing was changed: %s; \"trigon policy verify %s\" says more"
                    .formatted(file, e.summary(), file));
        }
    }

    private Path place() {
        if (!target.isEmpty()) {
            return Path.of(target).toAbsolutePath();
        }
        if (pid != 0) {
            return Path.of(processes.oneOfThisUser(pid).report().file());
        }
        List<String> files = processes.ofThisUser().stream()
                .map(each -> each.report().file())
                .distinct()
                .toList();
        if (files.size() != 1) {
            throw new CommandFailure(
                    files.isEmpty()
                            ? "none of your processes has a policy; name the file to replace: trigon policy load"
                                    + " FILE TARGET"
                            : "your processes use several policies, %s; name one, or a process with --pid"
                                    .formatted(files));
        }
        return Path.of(files.getFirst());
    }

    /** Beside it first, so that nobody reads half of it. */
    private static void replace(Path place, byte[] bytes) {
        Path folder = place.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new CommandFailure("%s cannot be replaced: its folder does not exist".formatted(place));
        }
        if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            PolicyObjectFile.checkReplaceable(place);
        }
        try {
            writeAndMove(place, folder, bytes);
        } catch (IOException e) {
            throw UserFiles.unwritable(place, e);
        }
    }

    private static void writeAndMove(Path place, Path folder, byte[] bytes) throws IOException {
        Path beside = Files.createTempFile(folder, ".trigon-policy-", ".new");
        try {
            Files.write(beside, bytes);
            Files.setPosixFilePermissions(beside, permissions(place));
            Files.move(beside, place, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(beside);
        }
    }

    /** As of the file that is replaced; but processes take none that others may write to. */
    private static Set<PosixFilePermission> permissions(Path place) throws IOException {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        permissions.addAll(Files.exists(place) ? Files.getPosixFilePermissions(place) : READ_BY_ALL);
        permissions.remove(PosixFilePermission.GROUP_WRITE);
        permissions.remove(PosixFilePermission.OTHERS_WRITE);
        return permissions;
    }

    /** Waits until each process that has this file has said what it does with it, and returns them. */
    private List<PolicyProcesses.PolicyProcess> follow(Path place, String digest) throws InterruptedException {
        long end = time.nanoTime() + PATIENCE.toNanos();
        List<PolicyProcesses.PolicyProcess> users = users(place);
        while (!users.stream().allMatch(each -> hasTaken(each, digest)) && time.nanoTime() - end < 0) {
            console.doing("waiting for " + Count.of(users.size(), "process", "processes"));
            time.sleep(BETWEEN_LOOKS);
            users = users(place);
        }
        console.done();
        return users;
    }

    private static boolean hasTaken(PolicyProcesses.PolicyProcess process, String digest) {
        return process.report().digest().equals(digest);
    }

    private Map<String, Object> json(Path place, String digest, List<PolicyProcesses.PolicyProcess> users) {
        return Json.object(
                "file", place.toString(),
                "sha256", digest,
                "processes",
                        users.stream()
                                .map(each -> Json.object(
                                        "pid", each.pid(),
                                        "command", each.command(),
                                        "loaded", hasTaken(each, digest),
                                        "refused", each.report().refused()))
                                .toList());
    }

    private void print(Path place, String digest, List<PolicyProcesses.PolicyProcess> users) {
        console.out().println("%s is now %s".formatted(place, file));
        if (users.isEmpty()) {
            console.out().println("none of your processes has loaded it yet");
            return;
        }
        Table table = new Table("process", "command", "outcome");
        for (PolicyProcesses.PolicyProcess each : users) {
            boolean taken = hasTaken(each, digest);
            String why = each.report().refused().isEmpty()
                    ? "has not checked it yet"
                    : each.report().refused();
            table.styled(
                    taken ? Style.GOOD : Style.BAD,
                    each.pid(),
                    each.command(),
                    taken ? "has loaded it, for new communicators, connections and events" : why);
        }
        table.print(console);
    }

    /** Other users' too, where root may look into them: what they say is only shown. */
    private List<PolicyProcesses.PolicyProcess> users(Path place) {
        return processes.all().stream()
                .filter(each -> Path.of(each.report().file()).toAbsolutePath().equals(place.toAbsolutePath()))
                .toList();
    }
}
