package trigon.tools.up;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.nodes.ReachOptions;

/** The way to all nodes, before anything is changed. One thread. */
final class Login {

    private final Machine machine;
    private final Console console;
    private final ReachOptions reach;
    private final Question question;

    Login(Machine machine, Console console, ReachOptions reach, Question question) {
        this.machine = machine;
        this.console = console;
        this.reach = reach;
        this.question = question;
    }

    /**
     * Reaches all nodes; all of them are tried.
     *
     * @param yes true if no question is to be asked: keys that are not known are a failure then
     * @throws CommandFailure that names each node which is not reached, why, and the remedy
     */
    Map<String, Reach.Reached> reach(Nodes nodes, boolean yes) throws IOException {
        Map<String, SshTarget> targets = targets(nodes);
        Reach tests = new Reach(nodes.shell(), targets);
        Nodes.Results<Reach.Reached> first = nodes.each(tests::node);
        List<String> unknown = first.failed().entrySet().stream()
                .filter(each -> each.getValue().contains("Host key verification failed")
                        && !each.getValue().contains("IDENTIFICATION HAS CHANGED"))
                .map(Map.Entry::getKey)
                .filter(targets::containsKey)
                .toList();
        if (unknown.isEmpty() || unknown.size() < first.failed().size()) {
            return first.all();
        }
        for (String node : unknown) {
            meet(node, targets.get(node), yes);
        }
        return nodes.each(tests::node).all();
    }

    private Map<String, SshTarget> targets(Nodes nodes) throws IOException {
        Map<String, SshTarget> targets = new LinkedHashMap<>();
        if (reach.isSsh()) {
            Path home = machine.passwordHome().orElse(Path.of("/"));
            for (String node : nodes.names()) {
                if (!node.equals(machine.hostName())) {
                    targets.put(node, SshTarget.of(reach, node, home));
                }
            }
        }
        return targets;
    }

    /** Shows the keys of a host that this machine does not know, and keeps them if somebody says they are right. */
    private void meet(String node, @Nullable SshTarget target, boolean yes) throws IOException {
        if (target == null || target.isProxied()) {
            throw new CommandFailure(node + ": its host key is not known here; log in once by hand: ssh " + node);
        }
        HostKeys shown = HostKeys.shownBy(target);
        List<String> fingerprints = shown.keys().stream()
                .map(key -> "  " + key.type() + " " + key.fingerprint())
                .toList();
        String text = "%s (%s port %d) is not known here. It shows:\n%s"
                .formatted(node, target.host(), target.port(), String.join("\n", fingerprints));
        if (yes || fingerprints.isEmpty()) {
            throw new CommandFailure(node + ": " + text + "\n  if these are its keys, log in once by hand: ssh " + node
                    + "; or run this without --yes");
        }
        console.say(text);
        if (!question.isAnsweredYes("Are these its keys, as its own console shows them?")) {
            throw new CommandFailure(node + ": its host key was not accepted; nothing was changed");
        }
        shown.keep();
    }
}
