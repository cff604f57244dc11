package trigon.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;

/**
 * The page in Chromium, without a window and without a network. Skipped where there is no Chromium. A script of the
 * test's own, behind the page's, uses the page and writes what it finds into the document.
 */
@Timeout(300)
class PageInBrowserTest {

    private static final long BEGIN = 10_000_000_000L;
    private static final long US = 1_000;

    private static final String PROBE = """
            <script>
            { // names of its own
            const found = {};
            const areas = Array.from(document.querySelectorAll(".scroll"));
            const sections = Array.from(document.querySelectorAll("section.collective"));
            const press = (area, key) => area.dispatchEvent(
              new KeyboardEvent("keydown", {key: key, bubbles: true, cancelable: true}));
            const width = (area) => area.querySelector("svg").getBoundingClientRect().width;
            const canBeReached = (element) => { element.focus(); return document.activeElement === element; };
            found.sections = sections.length;
            found.shown = sections.filter((section) => !section.hidden).length;
            const shown = "section:not([hidden])";
            found.reached = [".skip", "#choice", shown + " button", shown + " .scroll", ".wide"].every(
              (name) => canBeReached(document.querySelector(name)));
            const before = width(areas[0]);
            press(areas[0], "+");
            found.larger = width(areas[0]) > before * 1.4;
            press(areas[0], "0");
            found.asBefore = Math.abs(width(areas[0]) - before) < 1;
            document.querySelector("section:not([hidden]) button").click();
            found.largerByButton = width(areas[0]) > before * 1.4;
            const choice = document.getElementById("choice");
            choice.selectedIndex = 1;
            choice.dispatchEvent(new Event("change"));
            found.second = sections[0].hidden && !sections[1].hidden;
            found.tooWide = document.documentElement.scrollWidth > window.innerWidth;
            found.unnamed = Array.from(document.querySelectorAll("[role=region], [role=img], section")).filter(
              (element) => !element.getAttribute("aria-label")).length;
            found.tablesWithoutCaption = document.querySelectorAll("table:not(:has(caption))").length;
            found.loaded = performance.getEntriesByType("resource").length;
            document.body.dataset.found = JSON.stringify(found).replaceAll('"', "");
            window.addEventListener("load", () => {
              document.body.dataset.laidOut = document.body.getBoundingClientRect().height > 0;
              document.body.dataset.millis = Math.round(performance.now());
            });
            }
            </script>
            </body>""";

    @TempDir
    Path folder;

    @Test
    void itIsDrawnAndCanBeUsedByKeys() throws Exception {
        Path chromium = chromium();
        aRing(40, 3);
        Report report = Report.of(List.of(folder.resolve("trace")));
        assertThat(report.paths()).as("collectives to choose from").hasSizeGreaterThan(1);

        for (int width : new int[] {1280, 800}) {
            String document = open(chromium, HtmlPage.of(report, "Trigon 1.2.3"), width);

            assertThat(found(document))
                    .contains("shown:1", "reached:true", "larger:true", "asBefore:true", "largerByButton:true")
                    .contains("second:true", "tooWide:false", "unnamed:0", "tablesWithoutCaption:0", "loaded:0");
            for (int rank = 0; rank < 3; rank++) {
                int next = (rank + 1) % 3;
                assertThat(document).contains(rank + "→" + next + " sends (", rank + "→" + next + " receives (");
            }
            assertThat(document).contains("class=\"arrow\"", ">critical path</text>");
        }
    }

    /** Measured, not asserted; by hand, since it takes a minute. */
    @Test
    @EnabledIfSystemProperty(named = "trigon.report.large", matches = "true")
    void aLargeTraceIsOpened() throws Exception {
        Path chromium = chromium();
        aRing(200_000, 3);
        long bytes;
        try (Stream<Path> files = Files.list(folder.resolve("trace"))) {
            bytes = files.mapToLong(file -> file.toFile().length()).sum();
        }
        long start = System.nanoTime();
        String page = HtmlPage.of(Report.of(List.of(folder.resolve("trace"))), "Trigon 1.2.3");
        long written = System.nanoTime();
        String document = open(chromium, page, 1280);
        System.err.printf(
                "%d MB of trace: the report takes %d ms, the page has %d KB, the browser lays it out in %s ms;"
                        + " with its own start and end it takes %d ms%n",
                bytes >> 20,
                (written - start) / 1_000_000,
                page.length() >> 10,
                attribute(document, "data-millis"),
                (System.nanoTime() - written) / 1_000_000);
    }

    /** All-reduces of three ranks, with pauses in between so that they are told apart, of two sizes. */
    private void aRing(int rounds, int ranks) throws IOException, InterruptedException {
        Path trace = Files.createDirectories(folder.resolve("trace"));
        try (TracedRun run = new TracedRun(trace)) {
            for (int rank = 0; rank < ranks; rank++) {
                run.rank(rank, "a", 0);
            }
            for (int rank = 0; rank < ranks; rank++) {
                run.connect(rank, (rank + 1) % ranks, "EAGER");
            }
            for (int round = 0; round < rounds; round++) {
                long at = BEGIN + round * 1000L * US;
                for (int rank = 0; rank < ranks; rank++) {
                    long bytes = round % 2 == 0 ? 4096 : 65536;
                    run.message(
                            rank, (rank + 1) % ranks, round, bytes, at, at + 3 * US, at + 20 * US, at, at + 30 * US);
                }
                if (round % 500 == 499) {
                    Thread.sleep(15); // until the rings have been emptied
                }
            }
        }
    }

    private static Path chromium() {
        Optional<Path> found = Stream.of("chromium", "chromium-headless-shell", "chrome", "google-chrome")
                .map(name -> Path.of("/usr/bin", name))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(found.isPresent(), "the page is not tried in a browser: there is no chromium in /usr/bin");
        return found.orElseThrow();
    }

    /** The document after its scripts have run. */
    private String open(Path chromium, String page, int width) throws Exception {
        Path file = folder.resolve("page.html");
        Path document = folder.resolve("document.html");
        Path log = folder.resolve("chromium.log");
        assertThat(page).endsWith("</body></html>\n");
        Files.writeString(file, page.replace("</body></html>\n", PROBE + "</html>\n"));
        Process process = new ProcessBuilder(
                        chromium.toString(),
                        "--headless=new",
                        "--no-sandbox", // which root cannot have
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--host-resolver-rules=MAP * ~NOTFOUND",
                        "--user-data-dir=" + folder.resolve("profile"),
                        "--enable-logging=stderr",
                        "--window-size=" + width + ",1000",
                        "--dump-dom",
                        file.toUri().toString())
                .redirectOutput(document.toFile())
                .redirectError(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(200, TimeUnit.SECONDS))
                    .as("Chromium ends in time")
                    .isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
        String said = Files.readString(log);
        String drawn = Files.readString(document);
        assertThat(said.lines().filter(line -> line.contains("CONSOLE")))
                .as("the page's console")
                .isEmpty();
        assertThat(attribute(drawn, "data-laid-out")).as(said).isEqualTo("true");
        return drawn;
    }

    private static String found(String document) {
        return attribute(document, "data-found");
    }

    private static String attribute(String document, String name) {
        Matcher matcher = Pattern.compile(" " + name + "=\"([^\"]*)\"").matcher(document);
        return matcher.find() ? matcher.group(1) : "";
    }
}
