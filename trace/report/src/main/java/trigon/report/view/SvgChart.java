package trigon.report.view;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.report.model.Collective;
import trigon.report.model.Connection;
import trigon.report.model.Message;
import trigon.report.path.Cause;
import trigon.report.path.CriticalPath;
import trigon.report.path.CriticalPath.Segment;
import trigon.report.summary.Amounts;

/**
 * One collective as a picture: on top the critical path, below a row for each end of each connection, and an arrow from
 * each post to its completion. Each thing says in words what it is.
 */
public final class SvgChart {

    /** Messages in a picture at most; more cannot be told apart. */
    static final int MAX_MESSAGES = 1500;

    private static final int WIDTH = 1200;
    private static final int LABELS = 190;
    private static final int ROW = 22;
    private static final int TOP = 64;

    /** Colours that people tell apart who do not see all of them. */
    private static final String STYLE = """
            text{font:12px sans-serif;fill:currentColor}
            .arrow{stroke:currentColor;stroke-width:.6;opacity:.35}.row{fill:currentColor;opacity:.05}
            .late{fill:#a6761d}.launch{fill:#999999}.gpu{fill:#44aa66}.credit{fill:#e6ab02}.peer{fill:#d95f02}
            .transport{fill:#3477b9}.relay{fill:#66a8d9}.failover{fill:#c2185b}.proxy{fill:#8e5ea2}
            .unknown{fill:#cccccc}.receive{fill:#7d93a6}
            rect:focus,rect:hover{stroke:currentColor;stroke-width:1.5}
            """;

    private final Collective collective;
    private final List<Segment> path;
    private final Map<String, Integer> rows = new LinkedHashMap<>();
    private final List<Message> messages;
    private final int height;
    private final Svg svg;
    private final long start;
    private final double scale;

    private SvgChart(Collective collective, List<Segment> path) {
        this.collective = collective;
        this.path = path;
        start = collective.start();
        scale = (WIDTH - LABELS - 10) / (double) Math.max(1, collective.wall());
        messages = collective.messages().stream().limit(MAX_MESSAGES).toList();
        messages.forEach(message -> findRows(message.connection()));
        height = TOP + rows.size() * ROW + 10;
        svg = new Svg(
                WIDTH,
                height,
                "%s of %s, %s"
                        .formatted(
                                collective.name(), Amounts.size(collective.bytes()), Amounts.time(collective.wall())),
                STYLE);
    }

    /** The picture, as a file of its own or a part of a page. */
    public static String of(Collective collective, List<Segment> path) {
        return new SvgChart(collective, path).draw();
    }

    /** The name of a cause's colour. */
    static String style(Cause cause) {
        return switch (cause) {
            case LATE_CALL -> "late";
            case LAUNCH -> "launch";
            case GPU -> "gpu";
            case CREDIT -> "credit";
            case PEER_LATE -> "peer";
            case TRANSPORT -> "transport";
            case RELAY -> "relay";
            case FAILOVER -> "failover";
            case PROXY -> "proxy";
            case UNKNOWN -> "unknown";
        };
    }

    private String draw() {
        axis();
        svg.text("", 4, 54, "critical path");
        for (Segment segment : CriticalPath.merged(path)) {
            bar(
                    style(segment.cause()),
                    segment.from(),
                    segment.to(),
                    40,
                    18,
                    "%s, %s, %s".formatted(segment.cause().word(), segment.place(), Amounts.time(segment.length())));
        }
        rows.forEach((name, row) -> {
            svg.rect("class=\"row\"", 0, TOP + row * ROW, WIDTH, row % 2 == 0 ? ROW : 0, "");
            svg.text("", 4, TOP + row * ROW + 15, name);
        });
        messages.forEach(this::arrow);
        messages.forEach(this::ends);
        if (collective.messages().size() > messages.size()) {
            svg.text(
                    "",
                    LABELS,
                    height - 1,
                    "the first %d of %d messages"
                            .formatted(messages.size(), collective.messages().size()));
        }
        return svg.toString();
    }

    private void findRows(Connection connection) {
        List<String> names = new ArrayList<>();
        if (connection.sender() != null) {
            names.add(sends(connection));
        }
        if (connection.receiver() != null) {
            names.add(receives(connection));
        }
        names.stream().sorted().forEach(name -> rows.putIfAbsent(name, rows.size()));
    }

    private static String sends(Connection connection) {
        return "%s sends (%s)"
                .formatted(
                        connection.direction(),
                        connection
                                .key()
                                .substring(0, Math.min(4, connection.key().length())));
    }

    private static String receives(Connection connection) {
        return sends(connection).replace("sends", "receives");
    }

    private void axis() {
        for (int i = 0; i <= 8; i++) {
            long time = collective.wall() * i / 8;
            double x = x(start + time);
            svg.line("stroke=\"currentColor\"", x, 22, x, 30);
            // the last one ends where the picture does
            svg.text(i < 8 ? "text-anchor=\"middle\"" : "text-anchor=\"end\"", x, 16, Amounts.time(time));
        }
    }

    private void ends(Message message) {
        Connection connection = message.connection();
        Integer sends = rows.get(sends(connection));
        String what = "message %d of %s".formatted(message.number(), Amounts.size(message.bytes()));
        if (sends != null && message.posted() != 0) {
            int y = TOP + sends * ROW;
            bar("credit", message.tried(), message.posted(), y + 3, 6, what + " waits for its receiver");
            bar("transport", message.posted(), message.sent(), y + 9, 9, what + " is sent");
        }
        Integer receives = rows.get(receives(connection));
        if (receives != null && message.receivePosted() != 0) {
            int y = TOP + receives * ROW;
            bar("receive", message.receivePosted(), message.received(), y + 6, 9, what + " is received");
        }
    }

    private void arrow(Message message) {
        Integer sends = rows.get(sends(message.connection()));
        Integer receives = rows.get(receives(message.connection()));
        if (sends != null && receives != null && message.isWhole()) {
            svg.line(
                    "class=\"arrow\"",
                    x(message.posted()),
                    TOP + sends * ROW + 13,
                    x(message.received()),
                    TOP + receives * ROW + 10);
        }
    }

    private void bar(String style, long from, long to, int y, int height, String words) {
        if (to > from && from != 0) {
            double begin = Math.max(LABELS, x(from));
            double end = Math.min(WIDTH, x(to));
            svg.rect(
                    "class=\"" + style + "\"",
                    begin,
                    y,
                    Math.max(0.4, end - begin),
                    height,
                    "%s, at %s for %s".formatted(words, Amounts.time(from - start), Amounts.time(to - from)));
        }
    }

    private double x(long time) {
        return LABELS + (time - start) * scale;
    }
}
