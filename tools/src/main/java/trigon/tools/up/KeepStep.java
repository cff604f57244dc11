package trigon.tools.up;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.ShellWord;
import trigon.tools.keep.Change;
import trigon.tools.keep.Keeper;
import trigon.tools.keep.LastingFile;
import trigon.tools.keep.WantedNic;

/** Scripts of the nodes for the changes of a plan: first in the kernel, then in files. Pure. */
final class KeepStep {

    private KeepStep() {}

    /** Changes of the kernel, which a restart undoes, too. */
    static Map<String, String> inTheKernel(UpPlan plan, Map<String, Survey> surveys) {
        Map<String, String> scripts = new LinkedHashMap<>();
        surveys.forEach((node, survey) -> {
            StringBuilder script = new StringBuilder();
            for (NicPlan nic : plan.changesOf(node)) {
                nic.changes().forEach(change -> script.append(inTheKernel(change)));
            }
            survey.down().stream()
                    .filter(name -> plan.ends().stream()
                            .noneMatch(nic -> nic.end().node().equals(node)
                                    && nic.end().nic().equals(name)))
                    .forEach(name -> script.append("ip link set %s down\n".formatted(name)));
            scripts.put(node, script.toString());
        });
        return scripts;
    }

    private static String inTheKernel(Change change) {
        return switch (change) {
            case Change.Add add -> "add %s %s\n".formatted(add.nic(), add.address());
            case Change.Remove remove -> "remove %s %s\n".formatted(remove.nic(), remove.address());
            case Change.Link link -> "mtu %s %d\n".formatted(link.nic(), link.mtu());
            case Change.KernelSetting _, Change.FirewallRule _, Change.Other _ ->
                throw new IllegalArgumentException(change.command());
        };
    }

    /** Files that keep the same after a restart. */
    static Map<String, String> inFiles(UpPlan plan, Iterable<String> nodes) {
        Map<String, String> scripts = new LinkedHashMap<>();
        for (String node : nodes) {
            StringBuilder script = new StringBuilder();
            plan.changesOf(node).forEach(nic -> script.append(inFiles(nic)));
            scripts.put(node, script.toString());
        }
        return scripts;
    }

    private static String inFiles(NicPlan plan) {
        Keeper keeper = Keeper.of(plan.manager())
                .orElseThrow(
                        () -> new CommandFailure("nobody keeps " + plan.end().nic()));
        WantedNic nic = plan.wanted();
        List<String> lines = new ArrayList<>();
        keeper.mergedWith()
                .ifPresent(others ->
                        plan.end().replaced().forEach(old -> lines.add("""
                        others=$(grep -lF %1$s %2$s 2>/dev/null || :)
                        if [ -n "$others" ]; then
                          echo "$others sets %1$s on %3$s again; remove it there" >&2
                          exit 1
                        fi""".formatted(old, others, nic.name()))));
        // backwards: what undoes it reads the old files again, then gives the interface back
        keeper.release(nic).reversed().forEach(each -> lines.add("note " + ShellWord.of("run " + each)));
        keeper.reread(nic).reversed().forEach(each -> lines.add("note " + ShellWord.of("run " + each)));
        for (LastingFile file : keeper.files(nic)) {
            if (file.isLink()) {
                lines.add("link %s %s".formatted(ShellWord.of(file.text()), ShellWord.of(file.path())));
            } else {
                lines.add("put %s root %s <<'END_OF_FILE'\n%sEND_OF_FILE"
                        .formatted(file.mode(), ShellWord.of(file.path()), file.text()));
            }
        }
        lines.addAll(keeper.reread(nic));
        if (keeper.isDaemon()) {
            lines.addAll(keeper.activate(nic));
        }
        return String.join("\n", lines) + "\n";
    }
}
