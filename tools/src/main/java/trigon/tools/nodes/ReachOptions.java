package trigon.tools.nodes;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;
import trigon.cluster.machine.Machine;
import trigon.config.Settings;
import trigon.config.setting.SettingKey;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.ShellWord;

/** Options for reaching other nodes, of all commands that start something on them. */
public final class ReachOptions {

    /** Variables that are of this node alone. */
    private static final Set<String> OF_ONE_NODE = Set.of("TRIGON_NODE", "TRIGON_HOME");

    private static final String SSH = "ssh -o BatchMode=yes -o ConnectTimeout=5";

    @Option(
            names = "--via",
            paramLabel = "PROGRAM",
            description = "Command that runs another on a node; the node's name and the command are appended."
                    + " Default: " + SSH)
    private String via = SSH;

    @Option(
            names = "--remote",
            paramLabel = "PATH",
            description = "Folder of trigon on the other nodes. Default: the same as here.")
    private String remote = "";

    /** The program that reaches a node, and its options; the node's name follows. */
    public List<String> via() {
        return List.of(via.strip().split("\\s+"));
    }

    /** The same options for another command. */
    public List<String> words() {
        return remote.isEmpty() ? List.of("--via", via) : List.of("--via", via, "--remote", remote);
    }

    /**
     * The command {@code trigon} on another node.
     *
     * @throws CommandFailure if nobody has said where it is
     */
    public List<String> trigon(Machine machine, List<String> arguments) {
        String program = remote.isEmpty()
                ? machine.home()
                        .map(home -> home.resolve("bin/trigon").toString())
                        .orElseThrow(() -> new CommandFailure("--remote has to say where trigon is on the other nodes"))
                : remote;
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(arguments);
        return command;
    }

    /**
     * The same, with Trigon's settings that this machine's environment has, as far as they are of all nodes. None of
     * them is a secret: keys are named by their files.
     *
     * @throws CommandFailure if nobody has said where it is
     */
    public List<String> trigonWithSettings(Machine machine, List<String> arguments) {
        List<String> settings = Settings.all().stream()
                .filter(key -> key.reader() != SettingKey.Reader.TOOLS)
                .flatMap(key -> key.variable().stream())
                .filter(variable -> !OF_ONE_NODE.contains(variable))
                .filter(machine.environment()::containsKey)
                .map(variable -> quoted(variable + "=" + machine.environment().get(variable)))
                .toList();
        List<String> command = new ArrayList<>();
        if (!settings.isEmpty()) {
            command.add("env");
            command.addAll(settings);
        }
        command.addAll(trigon(machine, arguments));
        return command;
    }

    /** Those of the same program with the distribution's command in another place. */
    public ReachOptions withRemote(String program) {
        ReachOptions other = new ReachOptions();
        other.via = via;
        other.remote = program;
        return other;
    }

    /** Command that runs words on another node by a connection of its own, which no earlier one serves. */
    public List<String> newConnection(String node, List<String> words) {
        List<String> command = new ArrayList<>(via());
        if (isSsh()) {
            command.addAll(List.of("-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ServerAliveInterval=5"));
        }
        command.add(node);
        words.stream().map(this::quoted).forEach(command::add);
        return command;
    }

    /** Tells whether ssh reaches the nodes, so that its files and messages say more. */
    public boolean isSsh() {
        return via().stream().anyMatch(each -> each.equals("ssh") || each.endsWith("/ssh"));
    }

    /** Command line that runs a command on another node from here, by the program that reaches it. */
    public String typed(String node, String command) {
        String reached = (via.equals(SSH) ? "ssh" : via.strip()) + " " + node + " ";
        boolean plain = command.matches("[\\w./:,@%+= -]+");
        return plain ? reached + command : reached + (isSsh() ? "" : "sh -c ") + ShellWord.of(command);
    }

    /** A word that may have anything in it: ssh gives all words to a shell, and other programs do not. */
    private String quoted(String word) {
        return isSsh() ? ShellWord.of(word) : word;
    }

    /** Tells whether it can be a node's name, and no option of the program that reaches nodes. */
    public static boolean isName(String name) {
        return !name.isBlank() && !name.startsWith("-");
    }

    /** Reason why a name is refused. */
    public static String noName(String name) {
        return "--nodes has \"" + name + "\", which is no name of a node";
    }
}
