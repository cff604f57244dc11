package trigon.tools.up;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.machine.Machine;
import trigon.system.PrintableText;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.nodes.ReachOptions;

/** {@code trigon down}: nodes are as they were before {@code trigon up}. */
@Command(
        name = "down",
        description = {
            "Take back what \"trigon up\" has changed on nodes.",
            "Addresses and files below /etc are then as before, byte for byte. A file that was changed since stays, and"
                    + " the difference is shown. Jobs that use the cables end."
        })
public final class DownCommand extends ToolCommand {

    private final InputStream input;

    @Parameters(arity = "1..64", paramLabel = "NODE", description = "The nodes, by their ssh names.")
    private List<String> names = List.of();

    @Mixin
    private ReachOptions reach = new ReachOptions();

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Option(names = "--purge", description = "Also remove Trigon itself: its package, or what up has copied there.")
    private boolean purge;

    @Option(names = "--ask-sudo", description = "Ask for the password of sudo, once for all nodes.")
    private boolean asksSudo;

    public DownCommand(Machine machine, Console console) {
        this(machine, console, new FileInputStream(FileDescriptor.in));
    }

    DownCommand(Machine machine, Console console, InputStream input) {
        super(machine, console);
        this.input = input;
    }

    @Override
    public Integer call() throws IOException {
        UpOptions.check(names).ifPresent(flaw -> {
            throw wrong(flaw);
        });
        Nodes nodes = new Nodes(names, new RemoteShell(reach, machine.hostName(), UpOptions.password(asksSudo)));
        Question question = new Question(console, input);
        var _ = new Login(machine, console, reach, question).reach(nodes, yes);
        if (!yes
                && !question.isAnsweredYes("Take back all that \"trigon up\" has changed on " + String.join(", ", names)
                        + (purge ? ", and remove Trigon" : "") + "?")) {
            console.say("Nothing was changed.");
            return 0;
        }
        Map<String, String> said = nodes.each(node -> nodes.run(
                        node, "take changes back", "look below " + Journal.FOLDER + " there", Journal.undoAll()))
                .all();
        said.forEach(this::show);
        if (purge) {
            var _ = nodes.each(node ->
                            nodes.run(node, "remove Trigon", "remove its package by hand", Installation.purge()))
                    .all();
        }
        return 0;
    }

    private void show(String node, String text) {
        List<String> lines = text.lines().map(PrintableText::of).toList();
        boolean any = lines.stream().anyMatch(line -> line.startsWith("journal "));
        console.say(node + (any ? ": as before" : ": there was nothing to take back"));
        lines.stream()
                .filter(line -> line.startsWith("left ") || line.startsWith("  "))
                .map(line -> line.replaceFirst("^left (.*)", "$1 was changed since, and stays; the difference:"))
                .forEach(line -> console.say("  " + line));
    }
}
