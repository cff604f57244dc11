package trigon.tools;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/**
 * Writes what is made of the commands' own descriptions: the pages for man(1), in the language of man(7), the
 * completion for bash, and the help of each command, which {@code bin/trigon} prints without waiting for a JVM. The
 * build runs it: {@code ManualPages FOLDER VERSION}, for {@code share} of the distribution.
 */
final class ManualPages {

    /** Fits every terminal. */
    private static final int HELP_WIDTH = 80;

    private final String version;

    private ManualPages(String version) {
        this.version = version;
    }

    public static void main(String[] arguments) throws IOException {
        Path share = Path.of(arguments[0]);
        Machine machine = new Machine(Path.of("/"), Map.of(), "localhost", arguments[1], Optional.empty());
        try (PrintStream nowhere = new PrintStream(PrintStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
            Console console = new Console(nowhere, nowhere, false, false, Console.USUAL_WIDTH);
            CommandLine program = TrigonProgram.commandLine(machine, console);
            Path completions = share.resolve("bash-completion/completions");
            Files.createDirectories(completions);
            String script = AutoComplete.bash("trigon", program);
            // when it was made, which would make each build another one
            Files.writeString(
                    completions.resolve("trigon"),
                    script.lines().filter(line -> !line.startsWith("# Date:")).reduce("", (a, b) -> a + b + "\n"));
            Path pages = share.resolve("man/man1");
            Files.createDirectories(pages);
            new ManualPages(arguments[1]).write(program, pages);
            Path help = share.resolve("help");
            Files.createDirectories(help);
            writeHelp(program.setUsageHelpWidth(HELP_WIDTH), help);
        }
    }

    private static void writeHelp(CommandLine command, Path folder) throws IOException {
        CommandSpec spec = command.getCommandSpec();
        Files.writeString(
                folder.resolve(spec.qualifiedName("-") + ".txt"), command.getUsageMessage(CommandLine.Help.Ansi.OFF));
        for (CommandLine each : command.getSubcommands().values()) {
            writeHelp(each, folder);
        }
    }

    private void write(CommandLine command, Path folder) throws IOException {
        CommandSpec spec = command.getCommandSpec();
        if (spec.usageMessage().hidden() || command.getCommand() instanceof CommandLine.HelpCommand) {
            return;
        }
        Files.writeString(folder.resolve(spec.qualifiedName("-") + ".1"), page(command));
        for (CommandLine each : command.getSubcommands().values()) {
            write(each, folder);
        }
    }

    private String page(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        StringBuilder page = new StringBuilder();
        String name = spec.qualifiedName("-");
        List<String> description = List.of(spec.usageMessage().description());
        String first = description.isEmpty() ? name : description.getFirst().replaceFirst("\\.$", "");
        page.append(".TH \"%s\" 1 \"\" \"Trigon %s\" \"Trigon\"\n"
                .formatted(name.toUpperCase(java.util.Locale.ROOT), version));
        page.append(".SH NAME\n%s \\- %s\n".formatted(escaped(name), escaped(first)));
        page.append(".SH SYNOPSIS\n")
                .append(escaped(command.getHelp().synopsis(0)).strip())
                .append('\n');
        page.append(".SH DESCRIPTION\n");
        description.forEach(text -> page.append(escaped(text)).append("\n.PP\n"));
        if (!spec.options().isEmpty() || !spec.positionalParameters().isEmpty()) {
            page.append(".SH OPTIONS\n");
            spec.positionalParameters().stream()
                    .filter(each -> !each.hidden())
                    .forEach(each -> page.append(parameter(each)));
            spec.options().stream().filter(each -> !each.hidden()).forEach(each -> page.append(option(each)));
        }
        if (!command.getSubcommands().isEmpty()) {
            page.append(".SH COMMANDS\n");
            command.getSubcommands()
                    .forEach((word, each) -> page.append(".TP\n\\fB%s\\fP\n%s\n"
                            .formatted(
                                    escaped(word),
                                    escaped(each.getCommandSpec().usageMessage().description()[0]))));
        }
        page.append(".SH EXIT STATUS\n0: all is well. 1: something is wrong. 2: the command line is wrong.\n");
        return page.toString();
    }

    private static String option(OptionSpec option) {
        String label = option.arity().max() > 0 ? " \\fI" + escaped(option.paramLabel()) + "\\fP" : "";
        return ".TP\n\\fB%s\\fP%s\n%s\n"
                .formatted(escaped(String.join(", ", option.names())), label, text(option.description()));
    }

    private static String parameter(PositionalParamSpec parameter) {
        return ".TP\n\\fI%s\\fP\n%s\n".formatted(escaped(parameter.paramLabel()), text(parameter.description()));
    }

    private static String text(String[] description) {
        return escaped(String.join(" ", description));
    }

    /** No line begins with a control character, and hyphens stay what they are. */
    private static String escaped(String text) {
        String plain =
                text.replace("\\", "\\e").replace("-", "\\-").replace("%%", "%").replace("%n", "\n");
        return plain.lines()
                .map(line -> line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line)
                .reduce((a, b) -> a + "\n" + b)
                .orElse("");
    }
}
