package trigon.tools.enable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/** {@code trigon disable}: takes back what {@code trigon enable} has written. */
@Command(
        name = "disable",
        description = {
            "Remove what \"trigon enable\" has written on this machine.",
            "NCCL's files are then as they were before, byte for byte; those that had no other lines are removed, and"
                    + " so is /etc/cdi/trigon.yaml. Use the user and the options of \"trigon enable\"."
        })
public final class DisableCommand extends NcclPlaces {

    public DisableCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        Map<OwnedFile, MarkedLines> old = new LinkedHashMap<>();
        files().forEach(file -> old.put(file, marked(file)));
        old.forEach((file, text) -> {
            if (text.lines().isEmpty()) {
                console.say(file.path() + ": has no lines of Trigon's");
            } else {
                write(file, text.without(), text.without().isPresent() ? "without Trigon's lines" : "removed");
            }
        });
        if (isOfAllUsers() && cdi().read().filter(CdiFile::isOwn).isPresent()) {
            write(cdi(), Optional.empty(), "removed");
        }
        return 0;
    }
}
