package trigon.tools;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import trigon.cluster.machine.Machine;
import trigon.tools.command.CommandProvider;
import trigon.tools.console.Console;
import trigon.tools.console.StandardOutput;
import trigon.tools.demo.DemoCommand;
import trigon.tools.doctor.AgentCommand;
import trigon.tools.env.NcclCommands;
import trigon.tools.explain.ExplainCommand;
import trigon.tools.links.LinksCommand;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.JobsCommand;
import trigon.tools.metrics.MetricsCommand;
import trigon.tools.metrics.TopCommand;
import trigon.tools.relay.RelayCommand;
import trigon.tools.report.ReportCommand;
import trigon.tools.report.TraceCommand;
import trigon.tools.support.SupportCommand;

/**
 * The command {@code trigon}. Ends with 0 if all is well, 1 if something is wrong, 2 if the command line is.
 *
 * <p>{@code bin/trigon} starts it, and says by system properties what a JVM cannot find out at once:
 * {@code trigon.home} is the distribution, {@code trigon.terminal} has {@code out} and {@code err} where these are
 * terminals, {@code trigon.width} the columns.
 */
@Command(
        name = "trigon",
        description = "Plan, check and watch the links of a cabled cluster.",
        footer = {
            "",
            "Exit status: 0 all is well, 1 something is wrong, 2 the command line is wrong.",
            "\"trigon help COMMAND\" has the options of a command.",
            "\"trigon --version\" says the version, and what it needs."
        },
        subcommands = HelpCommand.class)
public final class TrigonProgram {

    private static final int WRONG = 1;
    private static final int USAGE = 2;

    private TrigonProgram() {}

    /** Runs a command, and ends the process. */
    public static void main(String[] arguments) {
        Machine machine = thisMachine();
        String terminals = System.getProperty("trigon.terminal", "");
        boolean plain = !machine.environment().getOrDefault("NO_COLOR", "").isEmpty()
                || machine.environment().getOrDefault("TERM", "dumb").equals("dumb");
        StandardOutput result = new StandardOutput();
        try (PrintStream out = stream(result);
                PrintStream err = stream(new FileOutputStream(FileDescriptor.err))) {
            Console console = new Console(
                    out,
                    err,
                    terminals.contains("out") && !plain,
                    terminals.contains("err") && !plain,
                    Integer.getInteger("trigon.width", Console.USUAL_WIDTH));
            int status = run(machine, console, arguments);
            out.flush();
            if (result.loss().isPresent()) {
                console.note("the result is incomplete: the standard output cannot be written: "
                        + result.loss().get());
                status = Math.max(status, WRONG);
            }
            err.flush();
            System.exit(status);
        }
    }

    private static PrintStream stream(OutputStream to) {
        return new PrintStream(new BufferedOutputStream(to, 1 << 13), false, StandardCharsets.UTF_8);
    }

    /** Runs a command; returns the exit status. */
    public static int run(Machine machine, Console console, String... arguments) {
        CommandLine program = commandLine(machine, console);
        if (arguments.length == 0) {
            program.usage(program.getOut());
            program.getOut().flush();
            return 0;
        }
        try {
            return program.execute(arguments);
        } catch (Error e) { // picocli hands on exceptions alone
            return failed(e, program);
        }
    }

    /** The program with its commands, for a machine and a console that tests bring. */
    static CommandLine commandLine(Machine machine, Console console) {
        List<Object> commands = new ArrayList<>(List.of(
                new DemoCommand(machine, console),
                new ExplainCommand(machine, console),
                new JobsCommand(machine, console),
                new LinksCommand(machine, console),
                new MetricsCommand(machine, console),
                new SupportCommand(machine, console, Clock.systemUTC()),
                new TopCommand(machine, console),
                new TrainCommand(machine, console)));
        commands.addAll(ClusterCommands.of(machine, console));
        commands.addAll(NcclCommands.of(machine, console));
        ServiceLoader.load(CommandProvider.class, CommandProvider.class.getClassLoader())
                .forEach(each -> commands.add(each.command(machine, console)));
        commands.addAll(List.of(
                new RelayCommand(machine, console),
                new ReportCommand(machine, console),
                new TraceCommand(machine, console),
                new AgentCommand(machine, console)));
        CommandLine program = new CommandLine(new TrigonProgram());
        commands.forEach(program::addSubcommand);
        program.getCommandSpec().versionProvider((IVersionProvider) () -> new String[] {"Trigon " + machine.version()});
        addHelpOption(program);
        PrintWriter out = new PrintWriter(console.out(), true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(console.err(), true, StandardCharsets.UTF_8);
        return program.registerConverter(Path.class, Failures::path)
                .setOut(out)
                .setErr(err)
                .setColorScheme(CommandLine.Help.defaultColorScheme(
                        console.colour() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF))
                .setUsageHelpWidth(Math.clamp(console.width(), 55, 120))
                .setParameterExceptionHandler(TrigonProgram::wrongUsage)
                .setExecutionExceptionHandler((e, at, _) -> failed(e, at));
    }

    private static void addHelpOption(CommandLine to) {
        for (CommandLine each : to.getSubcommands().values()) {
            if (!(each.getCommand() instanceof HelpCommand)) {
                addHelpOption(each);
            }
        }
        if (to.getCommandSpec().findOption("--help") == null) {
            to.getCommandSpec()
                    .addOption(CommandLine.Model.OptionSpec.builder("-h", "--help")
                            .usageHelp(true)
                            .scopeType(ScopeType.LOCAL)
                            .description("This text.")
                            .build());
        }
    }

    private static int wrongUsage(ParameterException e, String[] arguments) {
        CommandLine at = e.getCommandLine();
        String what = Failures.unknownCommand(e).orElseGet(() -> e.getMessage() + ";");
        at.getErr().println("trigon: " + what + " see \"" + help(at) + "\"");
        at.getErr().flush();
        return USAGE;
    }

    private static String help(CommandLine at) {
        return at.getCommandSpec().qualifiedName(" ").replaceFirst("^trigon", "trigon help");
    }

    private static int failed(Throwable e, CommandLine at) {
        at.getErr().println("trigon: " + Failures.text(e));
        at.getErr().flush();
        return WRONG;
    }

    private static Machine thisMachine() {
        Optional<Path> home =
                Optional.ofNullable(System.getProperty("trigon.home")).map(Path::of);
        String version = home.flatMap(folder -> Machine.text(folder.resolve("release")))
                .flatMap(ProcessFacts::versionIn)
                .orElse("of unknown version");
        String hostName = Machine.line(Path.of("/proc/sys/kernel/hostname")).orElse("localhost");
        return new Machine(Path.of("/"), System.getenv(), hostName, version, home);
    }
}
