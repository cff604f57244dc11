package trigon.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.report.view.Svg;

/** Groups of bars on a logarithmic scale, as SVG. Values are at least 1 in their unit, or drawn as 1. */
final class BarChart {

    private static final int LEFT = 64;
    private static final int TOP = 48;
    private static final int PLOT_HEIGHT = 240;
    private static final int BAR = 26;
    private static final int GAP = 28;
    private static final List<String> COLOURS =
            List.of("#9aa5b1", "#1f6feb", "#d97706", "#2e8b57", "#8e44ad", "#c0392b");

    private static final String MIDDLE = "text-anchor='middle'";

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
        String whole = "%s (%s)".formatted(title, unit);
        Svg svg =
                new Svg(width, height, whole, "text{font:12px sans-serif}.title{font-size:14px}.value{font-size:9px}");
        svg.rect("fill='white'", 0, 0, width, height, "");
        svg.text("class='title'", 8, 18, whole);
        legend(svg);
        double decades = decades();
        axis(svg, decades, width);
        int x = LEFT + GAP / 2;
        for (Map.Entry<String, Map<String, Double>> group : groups.entrySet()) {
            bars(svg, group.getValue(), x, decades);
            svg.text(MIDDLE, x + series.size() * BAR / 2.0, TOP + PLOT_HEIGHT + 20, group.getKey());
            x += groupWidth;
        }
        return svg.toString();
    }

    private void legend(Svg svg) {
        for (int i = 0; i < series.size(); i++) {
            int x = LEFT + 120 * i;
            svg.rect(colour(i), x, 27, 10, 10, "");
            svg.text("", x + 14, 36, series.get(i));
        }
    }

    private void bars(Svg svg, Map<String, Double> values, int left, double decades) {
        for (int i = 0; i < series.size(); i++) {
            Double value = values.get(series.get(i));
            if (value == null) {
                continue;
            }
            double bar = height(value, decades);
            int x = left + i * BAR;
            svg.rect(colour(i), x, TOP + PLOT_HEIGHT - bar, BAR - 4, bar, "");
            svg.text(MIDDLE + " class='value'", x + BAR / 2.0 - 2, TOP + PLOT_HEIGHT - bar - 3, Budget.number(value));
        }
    }

    private void axis(Svg svg, double decades, int width) {
        for (int decade = 0; decade <= decades; decade++) {
            double y = TOP + PLOT_HEIGHT - PLOT_HEIGHT * decade / decades;
            svg.line("stroke='#dddddd'", LEFT, y, width - 8, y);
            svg.text("text-anchor='end'", LEFT - 6, y + 4, "1" + "0".repeat(decade));
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
        return "fill='" + COLOURS.get(seriesIndex % COLOURS.size()) + "'";
    }
}
