package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The table of what each NCCL loads is made of what NCCL looks for and of what the library exports. With
 * {@code -Dtrigon.docs.write=true} it is written anew instead.
 */
class NcclVersionsTest {

    private static final Path ROOT = Path.of("..");
    private static final Path PAGE = ROOT.resolve("docs/reference/nccl-versions.md");
    private static final Path EXPORTS = ROOT.resolve("native-entry/src/main/c/exports.map");
    private static final Path RELEASES = Path.of("src/test/resources/nccl-releases.txt");

    private static final String HEAD =
            "| NCCL | net | tuner | profiler | GIN | RMA | one-sided | how it was checked |\n";
    private static final Pattern TABLE = Pattern.compile("(?m)^\\| NCCL \\|.*\\n(?:\\|.*\\n)*");
    private static final Pattern RANGE = Pattern.compile("(\\d+)(?:-(\\d+))?");

    /** As the symbols begin, in the order of the columns. */
    private static final List<String> INTERFACES =
            List.of("ncclNetPlugin", "ncclTunerPlugin", "ncclProfiler", "ncclGinPlugin", "ncclRmaPlugin");

    private static final int GIN = 3;
    private static final int RMA = 4;

    @Test
    void theTableIsWhatIsExportedAndWhatNcclLooksFor() throws IOException {
        String page = Files.readString(PAGE);
        String table = table();
        if (Boolean.getBoolean("trigon.docs.write")) {
            Files.writeString(PAGE, TABLE.matcher(page).replaceFirst(Matcher.quoteReplacement(table)));
            return;
        }
        assertThat(TABLE.matcher(page).results().map(MatchResult::group))
                .as("to write it anew: ./mvnw -pl integration-tests -am test -Dtest=NcclVersionsTest"
                        + " -Dtrigon.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false")
                .containsExactly(table);
    }

    private static String table() throws IOException {
        String exports = Files.readString(EXPORTS);
        StringBuilder table = new StringBuilder(HEAD).append("|---|---|---|---|---|---|---|---|\n");
        for (String line : Files.readAllLines(RELEASES)) {
            if (line.startsWith("#")) {
                continue;
            }
            List<String> cells =
                    Stream.of(line.split("\\|", -1)).map(String::strip).toList();
            List<String> row = new ArrayList<>(List.of(cells.getFirst()));
            for (int i = 0; i < INTERFACES.size(); i++) {
                row.add(loaded(exports, INTERFACES.get(i), cells.get(i + 1)));
            }
            row.add(oneSided(row));
            row.add(cells.getLast());
            table.append("| ").append(String.join(" | ", row)).append(" |\n");
        }
        return table.toString();
    }

    private static String oneSided(List<String> row) {
        boolean rma = !row.get(RMA + 1).equals("-");
        boolean gin = !row.get(GIN + 1).equals("-");
        return rma ? "kernels and host API" : gin ? "kernels" : "no";
    }

    /** The newest version that both have, and the newest that NCCL has if it is another one. */
    private static String loaded(String exports, String name, String wanted) {
        Matcher range = RANGE.matcher(wanted);
        if (!range.matches()) {
            return "-";
        }
        int oldest = Integer.parseInt(range.group(1));
        int newest = range.group(2) == null ? oldest : Integer.parseInt(range.group(2));
        OptionalInt version = Pattern.compile(name + "_v(\\d+);")
                .matcher(exports)
                .results()
                .mapToInt(symbol -> Integer.parseInt(symbol.group(1)))
                .filter(each -> each >= oldest && each <= newest)
                .max();
        if (version.isEmpty()) {
            return "-";
        }
        return "v" + version.getAsInt() + (version.getAsInt() < newest ? " of v" + newest : "");
    }
}
