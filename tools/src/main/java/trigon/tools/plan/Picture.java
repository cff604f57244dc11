package trigon.tools.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import trigon.report.view.Svg;

/** The cabling as SVG: the nodes on a circle, in the order of the ranks, and their cables. For light and dark pages. */
final class Picture {

    private static final int SIZE = 640;
    private static final int MARGIN = 70;
    private static final int MAX_NAMES = 64;
    private static final int MAX_LABELLED = 16;

    /** Between cables of the same two nodes. */
    private static final int APART = 8;

    private static final double LETTER = 7.4;
    private static final double LINE = 16;

    /** Parts of the way from a node to the other at which labels may be, the best first. */
    private static final double[] PLACES = {0.5, 0.4, 0.6, 0.33, 0.67, 0.26, 0.74};

    private record Point(double x, double y) {}

    /** A label's place: its middle and its size. */
    private record Box(double x, double y, double width, double height) {

        /** The area that it has in common with another. */
        double overlap(Box other) {
            double across = (width + other.width) / 2 - Math.abs(x - other.x);
            double down = (height + other.height) / 2 - Math.abs(y - other.y);
            return Math.max(0, across) * Math.max(0, down);
        }
    }

    private final Cabling cabling;
    private final Subnets subnets;
    private final Map<String, Point> places = new HashMap<>();
    private final List<Box> taken = new ArrayList<>();
    private final Svg svg = new Svg(
            SIZE,
            SIZE,
            "Nodes and their cables",
            "line{stroke:#1f77b4;stroke-width:2}circle{fill:#1f77b4}text{font:13px sans-serif;fill:#777;"
                    + "text-anchor:middle}rect{fill:#fff;opacity:.9}.subnet{fill:#333}"
                    + ".node{fill:#fff;font-weight:bold}");

    private Picture(Cabling cabling, Subnets subnets) {
        this.cabling = cabling;
        this.subnets = subnets;
        int nodes = cabling.nodes().size();
        for (int i = 0; i < nodes; i++) {
            double angle = 2 * Math.PI * i / nodes - Math.PI / 2;
            double distance = SIZE / 2.0 - MARGIN;
            places.put(
                    cabling.nodes().get(i),
                    new Point(SIZE / 2.0 + distance * Math.cos(angle), SIZE / 2.0 + distance * Math.sin(angle)));
        }
    }

    static String of(Cabling cabling, Subnets subnets) {
        Picture picture = new Picture(cabling, subnets);
        picture.draw();
        return picture.svg.toString();
    }

    private void draw() {
        Map<List<String>, List<Integer>> pairs = new LinkedHashMap<>();
        for (int i = 0; i < cabling.cables().size(); i++) {
            Cabling.Cable cable = cabling.cables().get(i);
            boolean forth = cable.from().compareTo(cable.to()) < 0;
            pairs.computeIfAbsent(
                            forth ? List.of(cable.from(), cable.to()) : List.of(cable.to(), cable.from()),
                            _ -> new ArrayList<>())
                    .add(i);
        }
        pairs.forEach((pair, cables) -> lines(at(pair.getFirst()), at(pair.getLast()), cables.size()));
        cabling.nodes().forEach(this::circle);
        if (cabling.nodes().size() <= MAX_LABELLED) {
            pairs.forEach((pair, cables) -> label(at(pair.getFirst()), at(pair.getLast()), cables));
        }
    }

    private Point at(String node) {
        return places.getOrDefault(node, new Point(0, 0));
    }

    private void lines(Point a, Point b, int count) {
        double length = Math.max(1, Math.hypot(b.x() - a.x(), b.y() - a.y()));
        for (int i = 0; i < count; i++) {
            double shift = (i - (count - 1) / 2.0) * APART;
            double x = shift * (b.y() - a.y()) / length;
            double y = -shift * (b.x() - a.x()) / length;
            svg.line("", a.x() + x, a.y() + y, b.x() + x, b.y() + y);
        }
    }

    /** The subnets of all cables of two nodes, one below the other, where the fewest labels are. */
    private void label(Point a, Point b, List<Integer> cables) {
        List<String> names = cables.stream().map(subnets.names()::get).toList();
        double width = LETTER * names.stream().mapToInt(String::length).max().orElse(0);
        Box box = DoubleStream.of(PLACES)
                .mapToObj(part -> new Box(
                        a.x() + part * (b.x() - a.x()), a.y() + part * (b.y() - a.y()), width, LINE * names.size()))
                .min(Comparator.comparingDouble(
                        each -> taken.stream().mapToDouble(each::overlap).sum()))
                .orElseThrow();
        taken.add(box);
        double top = box.y() - box.height() / 2;
        svg.rect("", box.x() - width / 2, top, width, box.height(), "");
        for (int i = 0; i < names.size(); i++) {
            svg.text("class=\"subnet\"", box.x(), top + LINE * i + 12, names.get(i));
        }
    }

    private void circle(String node) {
        int nodes = cabling.nodes().size();
        double radius = nodes <= MAX_NAMES ? Math.max(6, Math.min(24, 600.0 / nodes)) : 2;
        Point at = at(node);
        svg.circle("", at.x(), at.y(), radius);
        taken.add(new Box(at.x(), at.y(), 2 * radius, 2 * radius));
        if (nodes > MAX_NAMES) {
            return;
        }
        if (node.length() < 4 && nodes < 24) {
            svg.text("class=\"node\"", at.x(), at.y() + 5, node);
            return;
        }
        double half = LETTER * node.length() / 2;
        double x = Math.max(half, Math.min(SIZE - half, at.x()));
        double y = at.y() < SIZE / 2.0 ? at.y() - radius - 6 : at.y() + radius + 14;
        if (nodes > MAX_LABELLED) {
            double out = 1.0 + 40.0 / (SIZE / 2.0 - MARGIN);
            x = SIZE / 2.0 + (at.x() - SIZE / 2.0) * out;
            y = SIZE / 2.0 + (at.y() - SIZE / 2.0) * out + 5;
        }
        svg.text("", x, y, node);
        taken.add(new Box(x, y - 5, 2 * half, LINE));
    }
}
