package trigon.tools.plan;

import java.util.HashMap;
import java.util.Map;
import trigon.report.view.Svg;

/** The cabling as SVG: the nodes on a circle, in the order of the ranks, and their cables. For light and dark pages. */
final class Picture {

    private static final int SIZE = 640;
    private static final int MARGIN = 70;
    private static final int MOST_NAMES = 64;

    private Picture() {}

    static String of(Cabling cabling, Subnets subnets) {
        int nodes = cabling.nodes().size();
        Map<String, double[]> places = new HashMap<>();
        for (int i = 0; i < nodes; i++) {
            double angle = 2 * Math.PI * i / nodes - Math.PI / 2;
            places.put(cabling.nodes().get(i), new double[] {
                SIZE / 2.0 + (SIZE / 2.0 - MARGIN) * Math.cos(angle),
                SIZE / 2.0 + (SIZE / 2.0 - MARGIN) * Math.sin(angle)
            });
        }
        Svg svg = new Svg(
                SIZE,
                SIZE,
                "Nodes and their cables",
                "line{stroke:#1f77b4;stroke-width:2}circle{fill:#1f77b4}text{font:13px sans-serif;fill:#777;"
                        + "text-anchor:middle}.node{fill:#fff;font-weight:bold}");
        Map<String, Integer> parallel = new HashMap<>();
        for (int i = 0; i < cabling.cables().size(); i++) {
            Cabling.Cable cable = cabling.cables().get(i);
            double[] a = places.getOrDefault(cable.from(), new double[2]);
            double[] b = places.getOrDefault(cable.to(), new double[2]);
            boolean forth = cable.from().compareTo(cable.to()) < 0;
            String pair = forth ? cable.from() + " " + cable.to() : cable.to() + " " + cable.from();
            int shift = (parallel.merge(pair, 1, Integer::sum) - 1) * 8 * (forth ? 1 : -1);
            double length = Math.max(1, Math.hypot(b[0] - a[0], b[1] - a[1]));
            double x = shift * (b[1] - a[1]) / length;
            double y = -shift * (b[0] - a[0]) / length;
            svg.line("", a[0] + x, a[1] + y, b[0] + x, b[1] + y);
            if (nodes <= 16) {
                svg.text(
                        "",
                        (a[0] + b[0]) / 2 + 2 * x,
                        (a[1] + b[1]) / 2 + 2 * y - 4,
                        subnets.names().get(i));
            }
        }
        for (String node : cabling.nodes()) {
            double[] at = places.getOrDefault(node, new double[2]);
            double radius = nodes <= MOST_NAMES ? Math.max(6, Math.min(24, 600.0 / nodes)) : 2;
            svg.circle("", at[0], at[1], radius);
            if (nodes <= MOST_NAMES) {
                boolean inside = node.length() < 4 && nodes < 24;
                double out = inside ? 1 : 1.0 + 40.0 / (SIZE / 2.0 - MARGIN);
                svg.text(
                        inside ? "class=\"node\"" : "",
                        SIZE / 2.0 + (at[0] - SIZE / 2.0) * out,
                        SIZE / 2.0 + (at[1] - SIZE / 2.0) * out + 5,
                        node);
            }
        }
        return svg.toString();
    }
}
