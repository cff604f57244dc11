package trigon.tools.enable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;

/** {@code trigon enable}: jobs on this machine load Trigon, whatever starts them, and need no variables. */
@Command(
        name = "enable",
        description = {
            "Make NCCL load Trigon on this machine, without variables.",
            "Writes lines between two markers into NCCL's file, as root /etc/nccl.conf, else ~/.nccl.conf, and into"
                    + " rccl.conf beside it. Other lines stay, and win if they stand above. Run it on every node;"
                    + " running it again changes nothing. \"trigon disable\" removes the lines.",
            "The lines name the plugin, the interface of the default route if NCCL would take another one, and"
                    + " /etc/trigon/cluster.key and cluster.yaml if they are there. The exit status is 1 if a setting"
                    + " of somebody else keeps jobs from using Trigon."
        })
public final class EnableCommand extends NcclPlaces {

    @Option(
            names = "--required",
            description = "Jobs fail where they cannot use Trigon (NCCL_NET=Trigon). Otherwise they use sockets there.")
    private boolean required;

    @Option(
            names = "--cdi",
            description = "Also describe Trigon for container engines in /etc/cdi/trigon.yaml: containers with"
                    + " --device trigon.dev/net=all have it. As root.")
    private boolean cdi;

    @Option(
            names = "--bootstrap",
            paramLabel = "NIC",
            description = "Interface of the network that all nodes share (NCCL_SOCKET_IFNAME). Default: that of the"
                    + " default route, if NCCL would take another one.")
    private Optional<String> shared = Optional.empty();

    public EnableCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        if (cdi && !isOfAllUsers()) {
            throw wrong("--cdi is for all users: run it as root, without --user");
        }
        Path home = JobSettings.stable(home());
        if (shared.filter(nic -> !nic.matches("[A-Za-z0-9._@-]{1,15}")).isPresent()) {
            throw wrong("--bootstrap is " + shared.get() + ": must be the name of an interface");
        }
        Bootstrap bootstrap = shared.map(nic -> new Bootstrap(Optional.of("=" + nic), Optional.empty()))
                .orElseGet(() -> Bootstrap.of(machine));
        JobSettings settings = JobSettings.of(machine, home, required, bootstrap);
        if (!Files.isReadable(Path.of(settings.variables().get(JobSettings.PLUGIN)))) {
            throw new CommandFailure(
                    "no " + settings.variables().get(JobSettings.PLUGIN) + ": this is not a complete distribution");
        }
        write(settings);
        if (cdi) {
            describe(home, settings);
        }
        settings.lines().forEach(line -> console.say("  " + line));
        bootstrap.doubt().ifPresent(console::note);
        return others(settings) ? 0 : 1;
    }

    /** All files are read before one is written. */
    private void write(JobSettings settings) {
        List<String> lines = settings.lines().stream().map(OwnedFile::bytes).toList();
        Map<OwnedFile, MarkedLines> old = new LinkedHashMap<>();
        files().forEach(file -> old.put(file, marked(file)));
        OtherSettings others = OtherSettings.of(machine, settings);
        others.ofEnvironment().forEach(console::note);
        old.forEach((file, text) -> {
            MarkedLines next = text.with(lines);
            if (text.lines().isPresent() && text.text().equals(next.text())) {
                console.say(file.path() + ": has these lines");
            } else {
                write(file, Optional.of(next.text()), "written");
            }
            others.ofFiles(file.path(), next.firstLine()).forEach(console::note);
        });
    }

    private void describe(Path home, JobSettings settings) {
        List<Path> mounts = new ArrayList<>(List.of(home));
        files().forEach(file -> mounts.add(file.path()));
        JobSettings.clusterFiles(machine).values().stream()
                .filter(file -> settings.variables().containsValue(file.toString()))
                .forEach(mounts::add);
        String text = OwnedFile.bytes(CdiFile.text(machine, mounts));
        Optional<String> old = cdi().read();
        if (old.filter(each -> !CdiFile.isOwn(each)).isPresent()) {
            throw new CommandFailure(cdi().path() + " is not of trigon enable, and stays; move it away");
        }
        if (old.equals(Optional.of(text))) {
            console.say(cdi().path() + ": has this description");
        } else {
            makeFolder(machine.file("etc/cdi"));
            write(cdi(), Optional.of(text), "written");
        }
    }

    private void makeFolder(Path folder) {
        try {
            if (!dryRun) {
                Files.createDirectories(folder);
            }
        } catch (IOException e) {
            throw UserFiles.unwritable(folder, e);
        }
    }

    /** Says which other settings contradict these; returns true if jobs of this shell use Trigon all the same. */
    private boolean others(JobSettings settings) {
        Diagnosis.ofNcclSettings(machine).stream()
                .filter(finding -> settings.variables().keySet().stream()
                        .noneMatch(name -> finding.evidence().startsWith(name + "=")))
                .forEach(finding -> console.note(finding.evidence() + ": " + finding.what()));
        if (dryRun || settings.isUsedBy(machine.environmentOfJob())) {
            return true;
        }
        console.note("jobs of this shell do not use this Trigon: another setting wins, or HOME leads elsewhere");
        return false;
    }
}
