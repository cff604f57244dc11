package trigon.tools.enable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.NcclFile;
import trigon.system.file.ProcessUsers;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.machine.OwnRights;

/** A command that writes NCCL's and RCCL's files, of all users or of this one. */
abstract class NcclPlaces extends ToolCommand {

    /** RCCL reads its own ones alone up to ROCm 6.2, and as NCCL does. */
    private static final String OF_RCCL = "rccl.conf";

    private static final String OF_NCCL = "nccl.conf";

    @Option(names = "--user", description = "This user's files: ~/.nccl.conf and ~/.rccl.conf. Default unless root.")
    private boolean user;

    @Option(names = "--system", description = "All users' files: /etc/nccl.conf and /etc/rccl.conf. Default of root.")
    private boolean system;

    @Option(names = "--dry-run", description = "Print what would change, and change nothing.")
    protected boolean dryRun;

    NcclPlaces(Machine machine, Console console) {
        super(machine, console);
    }

    /**
     * Tells whether all users' files are meant.
     *
     * @throws ParameterException if both are
     */
    boolean isOfAllUsers() {
        if (user && system) {
            throw wrong("--user and --system exclude each other");
        }
        return system || (!user && OwnRights.isRoot());
    }

    /**
     * Files that NCCL reads, then those that RCCL reads.
     *
     * @throws CommandFailure if the user has no home folder
     */
    List<OwnedFile> files() {
        List<Path> files = new ArrayList<>();
        for (String name : List.of(OF_NCCL, OF_RCCL)) {
            if (isOfAllUsers()) {
                files.add(machine.file("etc").resolve(name));
            } else {
                homes().forEach(home -> files.add(home.resolve("." + name)));
            }
        }
        return files.stream().map(OwnedFile::new).toList();
    }

    private List<Path> homes() {
        List<Path> homes =
                NcclFile.homes(machine).stream().filter(Files::isDirectory).toList();
        if (homes.isEmpty()) {
            throw new CommandFailure("there is no home folder for .nccl.conf: neither HOME nor the password entry names"
                    + " one; set HOME, or run this as root with --system");
        }
        homes.forEach(NcclPlaces::checkOwner);
        return homes;
    }

    /** Root must not follow links that another user makes. */
    private static void checkOwner(Path home) {
        try {
            if (!Files.getAttribute(home, "unix:uid").equals(ProcessUsers.own())) {
                throw new CommandFailure(
                        "the home folder %s belongs to another user: run this as that user, or without sudo"
                                .formatted(home));
            }
        } catch (IOException e) {
            throw new CommandFailure(
                    "cannot tell whose home folder %s is: %s".formatted(home, String.valueOf(e.getMessage())));
        }
    }

    /** The lines that a file has, and the text around them. */
    static MarkedLines marked(OwnedFile file) {
        try {
            return MarkedLines.of(file.read());
        } catch (IllegalArgumentException e) {
            throw new CommandFailure("%s is left as it is: %s; remove both and the lines between them by hand"
                    .formatted(file.path(), e.getMessage()));
        }
    }

    /**
     * Writes a file, unless this is a dry run, and says so.
     *
     * @param text empty to remove it
     * @param done of the file, in the past
     */
    void write(OwnedFile file, Optional<String> text, String done) {
        if (!dryRun) {
            file.write(text);
        }
        console.say(file.path() + (dryRun ? ": would be " : ": ") + done);
    }

    /** The place of the description for container engines. */
    OwnedFile cdi() {
        return new OwnedFile(machine.file("etc/cdi/trigon.yaml"));
    }
}
