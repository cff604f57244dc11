package trigon.tools.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import trigon.report.view.Svg;
import trigon.tools.console.Count;

/** Decisions as a picture: a line for each collective, a coloured piece for each range of sizes. */
final class DecisionPlot {

    private static final int LEFT = 130;
    private static final int STEP = 26;
    private static final int TOP = 48;
    private static final int ROW = 46;
    private static final int BAR = 26;

    /** Told apart by people who see colours differently; on white. */
    private static final List<String> COLOURS =
            List.of("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#fc9272", "#c7e9c0", "#dadaeb", "#fdd0a2");

    private static final String LEFT_TO_NCCL = "#e0e0e0";

    private final String title;
    private final int ranks;
    private final int nodes;

    DecisionPlot(String title, int ranks, int nodes) {
        this.title = title;
        this.ranks = ranks;
        this.nodes = nodes;
    }

    String svg(Map<CollectiveKind, List<Decision>> decisions) {
        List<String> texts = new ArrayList<>();
        decisions
                .values()
                .forEach(list -> list.forEach(decision -> {
                    if (!texts.contains(decision.text())) {
                        texts.add(decision.text());
                    }
                }));
        int count = decisions.values().stream().mapToInt(List::size).max().orElse(1);
        int legend = TOP + decisions.size() * ROW + 24;
        int height = legend + texts.size() * 20 + 10;
        int width = Math.max(LEFT + count * STEP + 20, 560);
        Svg svg = new Svg(width, height, "Decisions of " + title, "text{font:12px sans-serif}");
        svg.rect("fill=\"white\"", 0, 0, width, height, "");
        svg.text("", 10, 22, "%s: %s on %s".formatted(title, Count.of(ranks, "rank"), Count.of(nodes, "node")));
        int y = TOP;
        for (Map.Entry<CollectiveKind, List<Decision>> each : decisions.entrySet()) {
            row(svg, y, each.getKey(), each.getValue(), texts);
            y += ROW;
        }
        for (int i = 0; i < texts.size(); i++) {
            int at = legend + i * 20;
            svg.rect(colour(texts.get(i), texts), 10, at - 11, 14, 14, "");
            svg.text("", 30, at, texts.get(i));
        }
        return svg.toString();
    }

    private static void row(Svg svg, int y, CollectiveKind collective, List<Decision> list, List<String> texts) {
        svg.text("", 10, y + 17, collective.toString());
        for (int i = 0; i < list.size(); i++) {
            Decision decision = list.get(i);
            String size = TestCommand.size(decision.bytes());
            svg.rect(colour(decision.text(), texts), LEFT + i * STEP, y, STEP - 1, BAR, size + ": " + decision.text());
            if (i % 4 == 0) {
                svg.text("", LEFT + i * STEP, y + BAR + 13, size);
            }
        }
    }

    private static String colour(String text, List<String> texts) {
        return "fill=\"%s\""
                .formatted(
                        text.startsWith("left to NCCL")
                                ? LEFT_TO_NCCL
                                : COLOURS.get(texts.indexOf(text) % COLOURS.size()));
    }
}
