package trigon.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Groups of bars on a logarithmic scale, as SVG. Values are at least 1 in their unit, or drawn as 1. */
final class BarChart {

    private static final int LEFT = 64;
    private static final int TOP = 48;
    private static final int PLOT_HEIGHT = 240;
    private static final int BAR = 26;
    private static final int GAP = 28;
    private static final List<String> COLOURS =
            List.of("#9aa5b1", "#1f6feb", "#d97706", "#2e8b57", "#8e44ad", "#c0392b");

    private final String title;
    private final String unit;
    private final List<String> series = new ArrayList<>();
    private final Map<String, Map<String, Double>> groups = new LinkedHashMap<>();

    BarChart(String title, String unit) {
        this.title = title;
        this.unit = unit;
    }

    void add(String group, String seriesName, double value) {
        if (!series.contains(seriesName)) {
            series.add(seriesName);
        }
        groups.computeIfAbsent(group, _ -> new LinkedHashMap<>()).put(seriesName, value);
    }

    boolean isEmpty() {
        return groups.isEmpty();
    }

    String svg() {
        int groupWidth = series.size() * BAR + GAP;
        int width = LEFT + Math.max(groups.size() * groupWidth, 60 + 120 * series.size()) + 16;
        int height = TOP + PLOT_HEIGHT + 48;
        StringBuilder svg = new StringBuilder();
        line(
                svg,
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>",
                width,
                height);
        line(svg, "<rect width='%d' height='%d' fill='white'/>", width, height);
        line(svg, "<text x='8' y='18' font-size='14'>%s (%s)</text>", escape(title), escape(unit));
        legend(svg);
        double decades = decades();
        axis(svg, decades, width);
        int x = LEFT + GAP / 2;
        for (Map.Entry<String, Map<String, Double>> group : groups.entrySet()) {
            bars(svg, group.getValue(), x, decades);
            line(
                    svg,
                    "<text x='%d' y='%d' text-anchor='middle'>%s</text>",
                    x + series.size() * BAR / 2,
                    TOP + PLOT_HEIGHT + 20,
                    escape(group.getKey()));
            x += groupWidth;
        }
        return svg.append("</svg>\n").toString();
    }

    private void legend(StringBuilder svg) {
        for (int i = 0; i < series.size(); i++) {
            int x = LEFT + 120 * i;
            line(svg, "<rect x='%d' y='27' width='10' height='10' fill='%s'/>", x, colour(i));
            line(svg, "<text x='%d' y='36'>%s</text>", x + 14, escape(series.get(i)));
        }
    }

    private void bars(StringBuilder svg, Map<String, Double> values, int left, double decades) {
        for (int i = 0; i < series.size(); i++) {
            Double value = values.get(series.get(i));
            if (value == null) {
                continue;
            }
            double bar = height(value, decades);
            int x = left + i * BAR;
            line(
                    svg,
                    "<rect x='%d' y='%.1f' width='%d' height='%.1f' fill='%s'/>",
                    x,
                    TOP + PLOT_HEIGHT - bar,
                    BAR - 4,
                    bar,
                    colour(i));
            line(
                    svg,
                    "<text x='%d' y='%.1f' font-size='9' text-anchor='middle'>%s</text>",
                    x + BAR / 2 - 2,
                    TOP + PLOT_HEIGHT - bar - 3,
                    Budget.number(value));
        }
    }

    private void axis(StringBuilder svg, double decades, int width) {
        for (int decade = 0; decade <= decades; decade++) {
            double y = TOP + PLOT_HEIGHT - PLOT_HEIGHT * decade / decades;
            line(svg, "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#dddddd'/>", LEFT, y, width - 8, y);
            line(svg, "<text x='%d' y='%.1f' text-anchor='end'>%.0f</text>", LEFT - 6, y + 4, Math.pow(10, decade));
        }
    }

    private double decades() {
        double greatest = groups.values().stream()
                .flatMap(values -> values.values().stream())
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(10);
        return Math.max(1, Math.ceil(Math.log10(greatest) + 0.05));
    }

    private static double height(double value, double decades) {
        return PLOT_HEIGHT * Math.log10(Math.max(1, value)) / decades;
    }

    private static String colour(int seriesIndex) {
        return COLOURS.get(seriesIndex % COLOURS.size());
    }

    @SuppressWarnings("AnnotateFormatMethod") // its annotation would be one more dependency
    private static void line(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
