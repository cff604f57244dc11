package trigon.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.json.JsonObject;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;

/**
 * A cable is cut under a job and comes back: {@code top}, {@code jobs} and {@code metrics} show both. How long each
 * takes is printed; it depends on the machine, so nothing is demanded but that they do.
 */
@Timeout(300)
@Tag("long")
class StateChangesIT {

    private static final String TRIGON =
            HostProgram.distribution().resolve("bin/trigon").toString();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern LINK = Pattern.compile("sends to b \\S+ via (\\S+) ");
    private static final Pattern ADDRESS = Pattern.compile("http://\\S+");

    @TempDir
    Path directory;

    private final List<Process> started = new ArrayList<>();

    /** What a command shows of the link; top has no room for returns. */
    private record Seen(boolean up, long failovers, long returns) {}

    /** Looks at what a command shows now; empty if the link is not in it. */
    @FunctionalInterface
    private interface View {
        Optional<Seen> look() throws IOException, InterruptedException;
    }

    @Test
    void areShownByTopJobsAndMetrics() throws Exception {
        try (CableNamespaces network = CableNamespaces.open();
                ExecutorService watchers = Executors.newVirtualThreadPerTaskExecutor();
                NamespaceJob job = job(network)) {
            job.awaitRounds(2);
            HostProgram rank = job.ranks().getFirst();
            rank.awaitOutput(LINK);
            Matcher used = LINK.matcher(rank.output());
            assertThat(used.find()).isTrue();
            String link = used.group(1);
            start("top", "top");
            start("metrics", "metrics", "--listen", "0");
            Map<String, View> counted =
                    Map.of("jobs", () -> jobs(rank.pid(), link), "metrics", () -> metrics(rank.pid(), link));
            Map<String, View> views = new TreeMap<>(counted);
            views.put("top", () -> top(rank.pid(), link));
            awaitAll(watchers, views, "two links", seen -> seen.up() && seen.failovers() == 0);
            network.set("a", link, false);
            awaitAll(watchers, views, "the cut", seen -> !seen.up() && seen.failovers() > 0);
            network.set("a", link, true);
            awaitAll(watchers, views, "the return", seen -> seen.up() && seen.failovers() > 0);
            awaitAll(watchers, counted, "the failback", seen -> seen.returns() > 0);
            job.end();
        } finally {
            started.forEach(Process::destroyForcibly);
        }
    }

    private NamespaceJob job(CableNamespaces network) throws IOException {
        network.node("a");
        network.node("b");
        network.cable("a", "toB0", "10.9.51.1/24", "b", "toA0", "10.9.51.2/24");
        network.cable("a", "toB1", "10.9.52.1/24", "b", "toA1", "10.9.52.2/24");
        Path file = Files.writeString(directory.resolve("trigon.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 10.9.51.1/24}, {address: 10.9.52.1/24}]}
                  b: {nics: [{address: 10.9.51.2/24}, {address: 10.9.52.2/24}]}
                """);
        return new NamespaceJob(network::by, directory, Map.of("TRIGON_CONFIG", file.toString()), List.of("a", "b"));
    }

    private Process start(String name, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(TRIGON));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(directory.resolve(name + ".out").toFile())
                .redirectError(directory.resolve(name + ".err").toFile());
        builder.environment().put("COLUMNS", "200"); // a table's row on one line
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private String said(String file) throws IOException {
        return Files.readString(directory.resolve(file), StandardCharsets.UTF_8);
    }

    /** All watch at once, from now. */
    private static void awaitAll(
            ExecutorService watchers, Map<String, View> views, String what, Predicate<Seen> condition)
            throws Exception {
        long begin = System.nanoTime();
        List<Future<String>> all = new ArrayList<>();
        views.forEach((name, view) -> all.add(watchers.submit(() -> {
            Optional<Seen> seen = view.look();
            while (seen.filter(condition).isEmpty()) {
                assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .as("%s until it shows %s, instead of %s", name, what, seen)
                        .isLessThan(PATIENCE);
                Thread.sleep(10);
                seen = view.look();
            }
            return "%s after %d ms"
                    .formatted(name, Duration.ofNanos(System.nanoTime() - begin).toMillis());
        })));
        List<String> times = new ArrayList<>();
        for (Future<String> each : all) {
            times.add(each.get());
        }
        System.out.println(what + " is shown by " + String.join(", ", times));
    }

    /** Of its newest table that is whole: what is behind the last end of a line is still being written. */
    private Optional<Seen> top(long pid, String link) throws IOException {
        String text = said("top.out");
        return text.substring(0, text.lastIndexOf('\n') + 1)
                .lines()
                .map(line -> line.split("\\s{2,}"))
                .filter(cells -> cells[0].startsWith(pid + " ") && cells[2].equals(link))
                .reduce((_, last) -> last)
                .map(cells -> new Seen(!cells[9].endsWith("down"), Long.parseLong(cells[8]), 0));
    }

    private Optional<Seen> jobs(long pid, String link) throws IOException, InterruptedException {
        Process process = start("jobs", "jobs", "--json");
        assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return JsonObject.parse(said("jobs.out")).objects("jobs").stream()
                .filter(job -> job.whole("pid") == pid)
                .flatMap(job -> job.objects("links").stream()
                        .filter(each -> each.text("name").equals(link))
                        .map(each -> new Seen(
                                each.isTrue("up"), failovers(job, link, "failovers"), failovers(job, link, "returns"))))
                .findFirst();
    }

    private static long failovers(JsonObject job, String link, String what) {
        return job.objects("failovers").stream()
                .filter(each -> each.text("link").equals(link))
                .mapToLong(each -> each.whole(what))
                .sum();
    }

    /** By the address that it has said; empty until then. */
    private Optional<Seen> metrics(long pid, String link) throws IOException, InterruptedException {
        Matcher address = ADDRESS.matcher(said("metrics.err"));
        if (!address.find()) {
            return Optional.empty();
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(address.group()))
                .timeout(PATIENCE)
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            String page = client.send(request, BodyHandlers.ofString()).body();
            return sample(page, "trigon_link_up", pid, link)
                    .map(up -> new Seen(
                            up == 1,
                            sample(page, "trigon_failovers_total", pid, link).orElse(0L),
                            sample(page, "trigon_failover_returns_total", pid, link)
                                    .orElse(0L)));
        }
    }

    private static Optional<Long> sample(String page, String metric, long pid, String link) {
        return page.lines()
                .filter(line -> line.startsWith(metric + "{")
                        && line.contains("pid=\"" + pid + "\"")
                        && line.contains("link=\"" + link + "\""))
                .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst();
    }
}
