package trigon.tools.bench;

import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import trigon.report.view.Svg;
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

    private static final String RULE = "stroke=\"#ccc\"";
    private static final String MIDDLE = "text-anchor=\"middle\"";

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
        Svg svg = new Svg(WIDTH, HEIGHT, title, "text{font:12px sans-serif}");
        svg.rect("fill=\"white\"", 0, 0, WIDTH, HEIGHT, "");
        svg.text("", LEFT, 22, title);
        axes(svg);
        Kind[] kinds = Kind.values();
        for (int i = 0; i < kinds.length; i++) {
            line(svg, kinds[i], COLOURS.get(i), i);
        }
        return svg.toString();
    }

    private void axes(Svg svg) {
        for (double exponent = least; exponent <= most; exponent++) {
            double y = y(Math.pow(10, exponent));
            svg.line(RULE, LEFT, y, WIDTH - RIGHT, y);
            svg.text(
                    "text-anchor=\"end\"",
                    LEFT - 6,
                    y + 4,
                    String.format(Locale.ROOT, "%g", Math.pow(10, exponent)).replaceFirst("\\.?0+$", ""));
        }
        for (long bytes :
                new TreeSet<>(measured.stream().map(Measurement::bytes).toList())) {
            svg.text(MIDDLE, x(bytes), HEIGHT - BOTTOM + 18, Sizes.text(bytes));
        }
        svg.line(RULE, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
        svg.text(MIDDLE, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "bytes");
        svg.text(MIDDLE, LEFT, TOP - 10, "GB/s");
    }

    private void line(Svg svg, Kind kind, String colour, int place) {
        List<Measurement> own = measured.stream()
                .filter(each -> each.kind() == kind)
                .filter(each -> kind == Kind.ALL_REDUCE || each.ranks().equals(firstPair()))
                .toList();
        for (int i = 0; i < own.size(); i++) {
            double x = x(own.get(i).bytes());
            double y = y(own.get(i).gigabytesPerSecond());
            svg.circle("fill=\"" + colour + "\"", x, y, 3);
            if (i > 0) {
                Measurement last = own.get(i - 1);
                String look = "stroke=\"" + colour + "\" stroke-width=\"2\"";
                svg.line(look, x(last.bytes()), y(last.gigabytesPerSecond()), x, y);
            }
        }
        if (!own.isEmpty()) {
            svg.rect("fill=\"" + colour + "\"", LEFT + 60 + 190 * place, 34, 14, 4, "");
            svg.text("", LEFT + 80 + 190 * place, 40, kind.toString());
        }
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
}
