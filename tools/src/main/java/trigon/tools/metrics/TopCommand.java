package trigon.tools.metrics;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
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
            "Covers the processes on this machine that use Trigon. Press Ctrl-C to stop."
        })
public final class TopCommand implements Callable<Integer> {

    private static final long NANOS = 1_000_000_000;

    /** Columns of a terminal that has room for all of the table's. */
    private static final int WIDE = 100;

    /** Places of columns that a narrow one has no room for. */
    private static final int WAITS = 6;

    private static final int FAILOVERS = 8;

    private final Console console;
    private final Time time;

    @Spec
    private CommandSpec spec;

    @Option(names = "--times", paramLabel = "N", description = "Number of updates. Default: 0, unlimited")
    private int times;

    @Option(names = "--interval", paramLabel = "SECONDS", description = "Seconds between updates. Default: 1")
    private int interval = 1;

    public TopCommand(Console console) {
        this(console, Time.SYSTEM);
    }

    /** With another time between updates. */
    TopCommand(Console console, Time time) {
        this.console = console;
        this.time = time;
        this.spec = CommandSpec.create(); // until picocli has set it
    }

    @Override
    public Integer call() throws InterruptedException {
        if (interval < 1 || interval > 3600 || times < 0) {
            throw new ParameterException(
                    spec.commandLine(), "--interval must be 1 to 3600 seconds, and --times not below 0");
        }
        Map<String, Counts> before = new HashMap<>();
        long then = time.nanoTime();
        for (int i = 0; times == 0 || i < times; i++) {
            List<Job> jobs = Job.all(_ -> {});
            long now = time.nanoTime();
            print(jobs, before, i == 0 ? 0 : now - then);
            then = now;
            before.clear();
            jobs.forEach(job -> job.links().forEach(link -> before.put(key(job, link), link.counts())));
            if (console.out().checkError()) {
                return 0; // nobody reads it any more, as in "trigon top | head"
            }
            if (times == 0 || i + 1 < times) {
                time.sleep(Duration.ofSeconds(interval));
            }
        }
        return 0;
    }

    private static String key(Job job, LinkUse link) {
        return job.pid() + " " + link.name() + " " + link.carrier();
    }

    private void print(List<Job> jobs, Map<String, Counts> before, long nanos) {
        if (console.colour()) {
            console.out().print("\u001b[H\u001b[2J"); // from the top, on an empty screen
        }
        boolean wide = console.width() >= WIDE;
        Table table = new Table(columns(
                wide,
                "process",
                "rank",
                "link",
                "Gb/s",
                "of link",
                "messages/s",
                "waits/s",
                "lost",
                "failovers",
                "over"));
        for (Job job : jobs) {
            Map<String, Long> failovers = job.failoversByLink();
            for (LinkUse link : job.links()) {
                Counts was = before.getOrDefault(key(job, link), link.counts());
                double gigabits = rate(link.counts().bytes() - was.bytes(), nanos) * 8 / 1e9;
                table.styled(
                        link.counts().errors() > was.errors() ? Style.BAD : Style.GOOD,
                        columns(
                                wide,
                                job.pid() + " " + job.program(),
                                job.rank().isEmpty() ? "-" : job.rank(),
                                link.name(),
                                "%.2f".formatted(gigabits),
                                link.speedMbps() > 0 ? "%.0f %%".formatted(gigabits * 100_000 / link.speedMbps()) : "-",
                                "%.0f".formatted(rate(link.counts().messages() - was.messages(), nanos)),
                                "%.0f".formatted(rate(link.counts().waits() - was.waits(), nanos)),
                                Long.toString(link.counts().errors()),
                                Long.toString(failovers.getOrDefault(link.name(), 0L)),
                                job.over(link)));
            }
        }
        if (table.isEmpty()) {
            console.out().println("No process that you can see uses Trigon here.");
        } else {
            table.print(console);
        }
        console.out().flush();
    }

    /** Of all columns those that there is room for: not what is counted of waits and failovers, if it is narrow. */
    private static String[] columns(boolean wide, String... all) {
        return IntStream.range(0, all.length)
                .filter(i -> wide || (i != WAITS && i != FAILOVERS))
                .mapToObj(i -> all[i])
                .toArray(String[]::new);
    }

    private static double rate(long more, long nanos) {
        return nanos == 0 ? 0 : more * (double) NANOS / nanos;
    }
}
