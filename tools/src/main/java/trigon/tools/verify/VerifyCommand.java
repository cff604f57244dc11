package trigon.tools.verify;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.system.PrintableText;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.console.Time;
import trigon.tools.console.UserFiles;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.verify.Watch.Seen;

/** {@code trigon verify}: proves that a job's traffic goes where it should. */
@Command(
        name = "verify",
        description = {
            "Prove that a job's traffic goes where it should.",
            "Compares Trigon's counters with the NICs', before and after, and checks that each process has exactly"
                    + " one NCCL and one Trigon.",
            "Watches running processes (--pid), or runs a command and watches it and its children: trigon verify"
                    + " -- CMD..."
        })
public final class VerifyCommand extends ToolCommand {

    /** A process that lives less than that may not be seen. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    /** Time for the last output of a command that has ended to arrive. */
    private static final Duration OUTPUT_TIMEOUT = Duration.ofSeconds(2);

    private static final int MAX_SECONDS = 24 * 60 * 60;

    private final Time time;
    private final Map<String, Optional<String>> ncclVersions = new HashMap<>();

    @Option(
            names = "--pid",
            split = ",",
            paramLabel = "PID",
            description = "Running processes with Trigon, as listed by \"trigon jobs\".")
    private List<Long> pids = new ArrayList<>();

    @Option(names = "--seconds", paramLabel = "S", description = "Seconds that --pid watches. Default: 5")
    private int seconds = 5;

    @Option(names = "--json", description = "The result as JSON, schema trigon.verify/1. CMD's output goes to stderr.")
    private boolean json;

    @Parameters(arity = "0..*", paramLabel = "CMD", description = "A command and its arguments, after --.")
    private List<String> command = new ArrayList<>();

    public VerifyCommand(Machine machine, Console console) {
        this(machine, console, Time.SYSTEM);
    }

    /** With another time to watch for. */
    VerifyCommand(Machine machine, Console console, Time time) {
        super(machine, console);
        this.time = time;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (pids.isEmpty() == command.isEmpty()) {
            throw wrong("either --pid names running processes, or a command follows --");
        }
        if (seconds < 1 || seconds > MAX_SECONDS) {
            throw wrong("--seconds is " + seconds + ": must be 1 to " + MAX_SECONDS);
        }
        try (Watch watch = new Watch(machine, pids.isEmpty())) {
            return verify(watch);
        }
    }

    private int verify(Watch watch) throws IOException, InterruptedException {
        int status = 0;
        if (pids.isEmpty()) {
            status = run(watch);
        } else {
            watch(watch);
        }
        watch.countAgain();
        Map<String, Long> nics = watch.nicBytes();
        List<Seen> seen = watch.seen();
        TrafficVerdict verdict = TrafficVerdict.of(seen, nics, this::ncclVersion, this::trigonVersion);
        if (json) {
            printJson("trigon.verify/1", json(seen, nics, verdict, status));
        } else {
            print(seen, nics, verdict, status);
        }
        return verdict.isGood() && status == 0 ? 0 : 1;
    }

    private void watch(Watch watch) throws InterruptedException {
        for (long pid : pids) {
            ProcessHandle process = ProcessHandle.of(pid)
                    .orElseThrow(() -> new CommandFailure(
                            "there is no process " + pid + "; \"trigon jobs\" lists those with Trigon"));
            watch.lookAtNamed(process.pid());
        }
        long end = time.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (time.nanoTime() - end < 0 && pids.stream().anyMatch(VerifyCommand::isAlive)) {
            console.doing("watching for " + TimeUnit.NANOSECONDS.toSeconds(end - time.nanoTime()) + " s more");
            time.sleep(BETWEEN_LOOKS);
            watch.look(pids);
        }
        console.done();
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    private int run(Watch watch) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new CommandFailure("cannot run " + command.getFirst() + ": " + UserFiles.reason(e)
                    + "; give a program and its arguments after --");
        }
        Thread output = pump(process.getInputStream(), json ? console.err() : console.out());
        Thread errors = pump(process.getErrorStream(), console.err());
        try {
            do {
                List<Long> family = new ArrayList<>(List.of(process.pid()));
                process.descendants().forEach(each -> family.add(each.pid()));
                watch.look(family);
            } while (!process.waitFor(BETWEEN_LOOKS));
            // what it leaves behind may hold the pipes for ever
            output.join(OUTPUT_TIMEOUT);
            errors.join(OUTPUT_TIMEOUT);
            return process.exitValue();
        } finally {
            process.destroy();
        }
    }

    private static Thread pump(InputStream from, PrintStream to) {
        return Thread.ofVirtual().start(() -> {
            try {
                byte[] piece = new byte[1 << 13];
                int length;
                while ((length = from.read(piece)) >= 0) {
                    to.write(piece, 0, length);
                    to.flush();
                }
            } catch (IOException _) {
                // the command was ended
            }
        });
    }

    private Optional<String> ncclVersion(String library) {
        return ncclVersions.computeIfAbsent(library, each -> ProcessFacts.ncclVersion(machine, each));
    }

    private Optional<String> trigonVersion(String library) {
        return ProcessFacts.trigonVersion(machine, library);
    }

    private void print(List<Seen> seen, Map<String, Long> nics, TrafficVerdict verdict, int status) {
        if (!seen.isEmpty()) {
            printTables(seen, nics);
        }
        if (status != 0) {
            console.line(Style.BAD, "The command ended with " + status + ".");
        }
        for (String each : verdict.wrong()) {
            wrapped(Style.BAD, "wrong: ", each);
        }
        for (String each : verdict.notes()) {
            wrapped(Style.WARNING, "note: ", each);
        }
        if (verdict.isGood()) {
            console.line(Style.GOOD, "The traffic went over Trigon's links: the NICs' counters agree.");
        }
    }

    private void printTables(List<Seen> seen, Map<String, Long> nics) {
        Table libraries = new Table("process", "NCCL", "Trigon");
        Table traffic = new Table("process", "link", "over", "messages", "MB");
        for (Seen each : seen) {
            String name = each.facts().pid() + " " + each.facts().program();
            libraries.row(
                    name,
                    versions(each.facts().nccl(), this::ncclVersion),
                    versions(each.facts().trigon(), this::trigonVersion));
            each.links()
                    .forEach(link -> traffic.row(
                            name,
                            link.name(),
                            link.carrier(),
                            link.counts().messages(),
                            link.counts().bytes() / 1_000_000));
        }
        libraries.print(console);
        console.out().println();
        traffic.print(console);
        console.out().println();
        Map<String, Long> ours = TrafficVerdict.byNic(seen, nics.keySet());
        Table counters = new Table("NIC", "counted MB", "by Trigon MB");
        nics.forEach((nic, bytes) -> {
            if (bytes > 0 || ours.containsKey(nic)) {
                counters.row(nic, bytes / 1_000_000, ours.getOrDefault(nic, 0L) / 1_000_000);
            }
        });
        if (!counters.isEmpty()) {
            counters.print(console);
            console.out().println();
        }
    }

    private static String versions(List<String> libraries, Function<String, Optional<String>> of) {
        return libraries.isEmpty()
                ? "none"
                : String.join(
                        ", ",
                        libraries.stream()
                                .map(each -> of.apply(each).orElse("unknown") + " (" + each + ")")
                                .toList());
    }

    private void wrapped(Style style, String word, String text) {
        List<String> lines = Table.wrap(PrintableText.of(text), console.width() - word.length());
        console.out().println(console.styled(style, word) + lines.getFirst());
        lines.stream().skip(1).forEach(line -> console.out().println(" ".repeat(word.length()) + line));
    }

    private Map<String, Object> json(List<Seen> seen, Map<String, Long> nics, TrafficVerdict verdict, int status) {
        Map<String, Long> ours = TrafficVerdict.byNic(seen, nics.keySet());
        return Json.object(
                "good", verdict.isGood() && status == 0,
                "status", status,
                "wrong", verdict.wrong(),
                "notes", verdict.notes(),
                "processes", seen.stream().map(this::json).toList(),
                "nics",
                        nics.entrySet().stream()
                                .map(nic -> Json.object(
                                        "name", nic.getKey(),
                                        "bytes", nic.getValue(),
                                        "trigonBytes", ours.getOrDefault(nic.getKey(), 0L)))
                                .toList());
    }

    private Map<String, Object> json(Seen seen) {
        return Json.object(
                "pid", seen.facts().pid(),
                "program", seen.facts().program(),
                "nccl", libraries(seen.facts().nccl(), this::ncclVersion),
                "trigon", libraries(seen.facts().trigon(), this::trigonVersion),
                "links",
                        seen.links().stream()
                                .map(link -> Json.object(
                                        "name", link.name(),
                                        "carrier", link.carrier(),
                                        "messages", link.counts().messages(),
                                        "bytes", link.counts().bytes(),
                                        "lost", link.counts().errors()))
                                .toList());
    }

    private static List<Map<String, Object>> libraries(List<String> files, Function<String, Optional<String>> version) {
        return files.stream()
                .map(file -> Json.object("file", file, "version", version.apply(file)))
                .toList();
    }
}
