package trigon.tools.metrics;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.console.Time;
import trigon.tools.metrics.Job.LinkUse;
import trigon.transport.metrics.MetricsReader.Counts;

/** {@code trigon top}: what goes over the links of this machine's jobs, now. */
@Command(
        name = "top",
        description = {
            "Show each link's traffic every second.",
            "Covers the processes on this machine that use Trigon. Press Ctrl-C to stop.",
            "With --json, each update is one line, and the first one comes after an interval: \"trigon top --json"
                    + " --times 1\" prints the rates once."
        })
public final class TopCommand extends ToolCommand {

    private static final long NANOS = 1_000_000_000;

    /** Columns of a terminal that has room for all of the table's. */
    private static final int WIDE = 100;

    /** Places of columns that a narrow one has no room for. */
    private static final int WAITS = 6;

    private static final int FAILOVERS = 8;

    private final Time time;

    @Option(names = "--times", paramLabel = "N", description = "Number of updates. Default: 0, unlimited")
    private int times;

    @Option(names = "--interval", paramLabel = "SECONDS", description = "Seconds between updates. Default: 1")
    private int interval = 1;

    @Option(names = "--json", description = "Each update as JSON in one line, schema trigon.top/1.")
    private boolean json;

    public TopCommand(Machine machine, Console console) {
        this(machine, console, Time.SYSTEM);
    }

    /** With another time between updates. */
    TopCommand(Machine machine, Console console, Time time) {
        super(machine, console);
        this.time = time;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (interval < 1 || interval > 3600 || times < 0) {
            throw wrong("--interval must be 1 to 3600 seconds, and --times not below 0");
        }
        Update update = new Update(Job.all(_ -> {}), Map.of(), time.nanoTime(), 0);
        if (json) {
            update = next(update);
        }
        for (int left = times; ; left--) {
            show(update);
            if (left == 1 || console.out().checkError()) {
                return 0; // nobody may read it any more, as in "trigon top | head"
            }
            update = next(update);
        }
    }

    /**
     * The jobs at a time.
     *
     * @param before counters of their links at the last update, by {@link #key}
     * @param at as {@link Time#nanoTime}
     * @param nanos since the last update; 0 if this is the first
     */
    private record Update(List<Job> jobs, Map<String, Counts> before, long at, long nanos) {

        Counts before(Job job, LinkUse link) {
            return before.getOrDefault(key(job, link), link.counts());
        }

        double rate(Job job, LinkUse link, ToLongFunction<Counts> counter) {
            long more = counter.applyAsLong(link.counts()) - counter.applyAsLong(before(job, link));
            return nanos == 0 ? 0 : more * (double) NANOS / nanos;
        }
    }

    private Update next(Update last) throws InterruptedException {
        time.sleep(Duration.ofSeconds(interval));
        Map<String, Counts> before = new HashMap<>();
        last.jobs().forEach(job -> job.links().forEach(link -> before.put(key(job, link), link.counts())));
        long now = time.nanoTime();
        return new Update(Job.all(_ -> {}), before, now, now - last.at());
    }

    private static String key(Job job, LinkUse link) {
        return job.pid() + " " + link.name() + " " + link.carrier();
    }

    private void show(Update update) {
        if (json) {
            console.out().print(Json.line(json(update)));
        } else {
            print(update);
        }
        console.out().flush();
    }

    private Map<String, Object> json(Update update) {
        Map<String, Object> document = machine.document("trigon.top/1");
        document.putAll(Json.object(
                "seconds",
                (double) update.nanos() / NANOS,
                "jobs",
                update.jobs().stream()
                        .map(job -> Json.object(
                                "pid", job.pid(),
                                "program", job.program(),
                                "rank", job.rank(),
                                "links",
                                        job.links().stream()
                                                .map(link -> json(update, job, link))
                                                .toList()))
                        .toList()));
        return document;
    }

    private static Map<String, Object> json(Update update, Job job, LinkUse link) {
        return Json.object(
                "name", link.name(),
                "carrier", link.carrier(),
                "speedMbps", link.speedMbps(),
                "up", link.up(),
                "rateMbps", update.rate(job, link, Counts::bytes) * 8 / 1e6,
                "messagesPerSecond", update.rate(job, link, Counts::messages),
                "waitsPerSecond", update.rate(job, link, Counts::waits),
                "lost", link.counts().errors(),
                "failovers", job.failoversByLink().getOrDefault(link.name(), 0L));
    }

    private void print(Update update) {
        if (console.colour()) {
            console.out().print("\u001b[H\u001b[2J"); // from the top, on an empty screen
        }
        Table table = new Table(
                "process", "rank", "link", "Gb/s", "of link", "messages/s", "waits/s", "lost", "failovers", "over");
        for (Job job : update.jobs()) {
            Map<String, Long> failovers = job.failoversByLink();
            for (LinkUse link : job.links()) {
                double gigabits = update.rate(job, link, Counts::bytes) * 8 / 1e9;
                table.styled(
                        link.counts().errors() > update.before(job, link).errors() ? Style.BAD : Style.GOOD,
                        job.pid() + " " + job.program(),
                        job.rank().isEmpty() ? "-" : job.rank(),
                        link.name(),
                        "%.2f".formatted(gigabits),
                        link.speedMbps() > 0 ? "%.0f %%".formatted(gigabits * 100_000 / link.speedMbps()) : "-",
                        "%.0f".formatted(update.rate(job, link, Counts::messages)),
                        "%.0f".formatted(update.rate(job, link, Counts::waits)),
                        link.counts().errors(),
                        failovers.getOrDefault(link.name(), 0L),
                        job.over(link));
            }
        }
        if (table.isEmpty()) {
            console.out().println("No process that you can see uses Trigon here.");
        } else {
            (console.width() >= WIDE ? table : table.without(WAITS, FAILOVERS)).print(console);
        }
    }
}
