package trigon.tools.bench;

import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import trigon.tools.bench.Measurement.Kind;

/** Bandwidth by size as a picture; both axes are logarithmic. */
final class BenchPlot {

    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    private static final int LEFT = 70;
    private static final int RIGHT = 20;
    private static final int TOP = 50;
    private static final int BOTTOM = 50;
    private static final List<String> COLOURS = List.of("#1f77b4", "#d95f02");

    private final List<Measurement> measured;
    private final double leastSize;
    private final double mostSize;
    private final double least;
    private final double most;

    BenchPlot(List<Measurement> measured) {
        this.measured = List.copyOf(measured);
        this.leastSize =
                log2(measured.stream().mapToLong(Measurement::bytes).min().orElse(1));
        this.mostSize = Math.max(
                leastSize + 1,
                log2(measured.stream().mapToLong(Measurement::bytes).max().orElse(2)));
        this.least = Math.floor(Math.log10(Math.max(
                1e-6,
                measured.stream()
                        .mapToDouble(Measurement::gigabytesPerSecond)
                        .min()
                        .orElse(0.1))));
        this.most = Math.max(
                least + 1,
                Math.ceil(Math.log10(Math.max(
                        1e-6,
                        measured.stream()
                                .mapToDouble(Measurement::gigabytesPerSecond)
                                .max()
                                .orElse(1)))));
    }

    String svg(String title) {
        StringBuilder svg = new StringBuilder();
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                .formatted(WIDTH, HEIGHT));
        svg.append(" font-size=\"12\" role=\"img\">\n<title>")
                .append(escaped(title))
                .append("</title>\n");
        svg.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        text(svg, LEFT, 22, "start", title);
        axes(svg);
        Kind[] kinds = Kind.values();
        for (int i = 0; i < kinds.length; i++) {
            line(svg, kinds[i], COLOURS.get(i), i);
        }
        return svg.append("</svg>\n").toString();
    }

    private void axes(StringBuilder svg) {
        for (double exponent = least; exponent <= most; exponent++) {
            double y = y(Math.pow(10, exponent));
            rule(svg, LEFT, y, WIDTH - RIGHT, y);
            text(
                    svg,
                    LEFT - 6,
                    y + 4,
                    "end",
                    String.format(Locale.ROOT, "%g", Math.pow(10, exponent)).replaceFirst("\\.?0+$", ""));
        }
        for (long bytes :
                new TreeSet<>(measured.stream().map(Measurement::bytes).toList())) {
            text(svg, x(bytes), HEIGHT - BOTTOM + 18, "middle", Sizes.text(bytes));
        }
        rule(svg, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
        text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", "bytes");
        text(svg, LEFT, TOP - 10, "middle", "GB/s");
    }

    private void line(StringBuilder svg, Kind kind, String colour, int place) {
        List<Measurement> own = measured.stream()
                .filter(each -> each.kind() == kind)
                .filter(each -> kind == Kind.ALL_REDUCE || each.ranks().equals(firstPair()))
                .toList();
        if (own.isEmpty()) {
            return;
        }
        StringBuilder points = new StringBuilder();
        for (Measurement each : own) {
            String at = String.format(Locale.ROOT, "%.1f,%.1f", x(each.bytes()), y(each.gigabytesPerSecond()));
            points.append(points.isEmpty() ? "" : " ").append(at);
            String[] parts = at.split(",", -1);
            svg.append("<circle cx=\"%s\" cy=\"%s\" r=\"3\" fill=\"%s\"/>\n".formatted(parts[0], parts[1], colour));
        }
        svg.append(
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>\n".formatted(colour, points));
        svg.append("<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"4\" fill=\"%s\"/>\n"
                .formatted(LEFT + 60 + 190 * place, 34, colour));
        text(svg, LEFT + 80 + 190 * place, 40, "start", kind.toString());
    }

    private List<Integer> firstPair() {
        return measured.stream()
                .filter(each -> each.kind() == Kind.POINT_TO_POINT)
                .findFirst()
                .map(Measurement::ranks)
                .orElse(List.of());
    }

    private double x(long bytes) {
        return LEFT + 10 + (log2(bytes) - leastSize) / (mostSize - leastSize) * (WIDTH - LEFT - RIGHT - 30);
    }

    private double y(double gigabytesPerSecond) {
        double share = (Math.log10(Math.max(1e-6, gigabytesPerSecond)) - least) / (most - least);
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
    }

    private static double log2(long bytes) {
        return Math.log((double) Math.max(1, bytes)) / Math.log(2);
    }

    private static void rule(StringBuilder svg, double x1, double y1, double x2, double y2) {
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>%n",
                x1,
                y1,
                x2,
                y2));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
                x,
                y,
                anchor,
                escaped(text)));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
