package trigon.policy.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import trigon.policy.report.PolicyReport.Entry;
import trigon.policy.report.PolicyReport.MapContent;
import trigon.policy.report.PolicyReport.Stopped;
import trigon.policy.report.PolicyReport.Tuner;
import trigon.system.PrintableText;

/** Reports as text: a line for each fact, its parts apart by tabs. */
final class ReportText {

    private static final String TAB = "\t";

    private ReportText() {}

    static String of(PolicyReport report) {
        StringBuilder text = new StringBuilder();
        line(text, "file", report.file());
        line(text, "version", report.version());
        line(text, "digest", report.digest());
        line(text, "refused", report.refused());
        for (Stopped stopped : report.stopped()) {
            line(text, "stopped", stopped.of(), stopped.section(), Long.toString(stopped.runs()));
        }
        for (Tuner tuner : report.tuners()) {
            line(
                    text,
                    "tuner",
                    tuner.communicator(),
                    tuner.digest(),
                    Long.toString(tuner.decided()),
                    Long.toString(tuner.left()),
                    Long.toString(tuner.impossible()));
        }
        for (MapContent map : report.maps()) {
            line(text, "map", map.of(), map.name(), map.type());
            map.entries().forEach(entry -> line(text, "entry", entry.key(), entry.value()));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String... parts) {
        for (int i = 0; i < parts.length; i++) {
            text.append(i == 0 ? "" : TAB).append(parts[i].replace('\t', ' ').replace('\n', ' '));
        }
        text.append('\n');
    }

    /** @throws IOException if that is no report */
    static PolicyReport parse(String text) throws IOException {
        try {
            return parseLines(text);
        } catch (IndexOutOfBoundsException | NumberFormatException | NoSuchElementException e) {
            throw new IOException("a report with a line that no process of Trigon's writes", e);
        }
    }

    private static PolicyReport parseLines(String text) {
        Map<String, String> facts = new HashMap<>();
        List<Stopped> stopped = new ArrayList<>();
        List<Tuner> tuners = new ArrayList<>();
        List<MapContent> maps = new ArrayList<>();
        List<Entry> entries = new ArrayList<>(); // of the last map
        for (String line : text.split("\n", -1)) {
            if (line.isEmpty()) {
                continue;
            }
            String[] parts = line.split(TAB, -1);
            Arrays.setAll(parts, i -> PrintableText.of(parts[i])); // another process's words go to a terminal
            switch (parts[0]) {
                case "tuner" ->
                    tuners.add(new Tuner(parts[1], parts[2], number(parts[3]), number(parts[4]), number(parts[5])));
                case "stopped" -> stopped.add(new Stopped(parts[1], parts[2], number(parts[3])));
                case "map" -> {
                    endMap(maps, entries);
                    maps.add(new MapContent(parts[1], parts[2], parts[3], List.of()));
                }
                case "entry" -> entries.add(new Entry(parts[1], parts[2]));
                default -> facts.put(parts[0], parts[1]);
            }
        }
        endMap(maps, entries);
        return new PolicyReport(
                facts.getOrDefault("file", ""),
                facts.getOrDefault("version", ""),
                facts.getOrDefault("digest", ""),
                facts.getOrDefault("refused", ""),
                stopped,
                tuners,
                maps);
    }

    /** All entries at once: a stranger's report may have a hundred thousand of them. */
    private static void endMap(List<MapContent> maps, List<Entry> entries) {
        if (!entries.isEmpty()) {
            MapContent map = maps.removeLast();
            maps.add(new MapContent(map.of(), map.name(), map.type(), entries));
            entries.clear();
        }
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }
}
