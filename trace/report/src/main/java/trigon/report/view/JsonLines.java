package trigon.report.view;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.report.model.Collective;
import trigon.report.model.Connection;
import trigon.report.model.Happening;
import trigon.report.model.Message;
import trigon.report.model.Rank;
import trigon.report.path.Segment;
import trigon.report.summary.LinkRow;
import trigon.report.summary.Report;

/** Everything that is known of a run, an object a line; times are nanoseconds on the run's clock. */
public final class JsonLines {

    private JsonLines() {}

    /**
     * Writes the report, one object a line.
     *
     * @throws IOException if it cannot be written
     */
    public static void write(Report report, Appendable to) throws IOException {
        line(to, "run", "verdict", report.verdict(), "profiled", report.run().profiled());
        for (String problem : report.run().problems()) {
            line(to, "problem", "text", problem);
        }
        for (Rank rank : report.run().ranks()) {
            line(
                    to,
                    "rank",
                    "number",
                    rank.number(),
                    "host",
                    rank.host(),
                    "file",
                    rank.trace().file());
        }
        for (int i = 0; i < report.run().collectives().size(); i++) {
            collective(to, i, report.run().collectives().get(i), report.paths().get(i));
        }
        for (LinkRow link : report.links()) {
            link(to, link);
        }
        for (Connection connection : report.run().connections()) {
            connection(to, connection);
            for (Message message : connection.messages()) {
                message(to, connection, message);
            }
        }
        for (Happening happening : report.run().happenings()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("kind", "event");
            fields.put("rank", happening.rank().number());
            fields.put("at", happening.time());
            happening.event().fields().asMap().forEach((name, value) -> {
                if (!name.equals("time")) {
                    fields.put(name, value);
                }
            });
            append(to, fields);
        }
    }

    private static void collective(Appendable to, int index, Collective collective, List<Segment> path)
            throws IOException {
        line(
                to,
                "collective",
                "index",
                index,
                "name",
                collective.name(),
                "bytes",
                collective.bytes(),
                "algorithm",
                collective.algorithm(),
                "communicator",
                collective.communicator(),
                "sequence",
                collective.sequence(),
                "start",
                collective.start(),
                "end",
                collective.end());
        for (Segment segment : path) {
            line(
                    to,
                    "segment",
                    "collective",
                    index,
                    "cause",
                    segment.cause().word(),
                    "place",
                    segment.place(),
                    "from",
                    segment.from(),
                    "to",
                    segment.to());
        }
    }

    private static void link(Appendable to, LinkRow link) throws IOException {
        line(
                to,
                "link",
                "direction",
                link.direction(),
                "links",
                link.links(),
                "messages",
                link.messages(),
                "bytes",
                link.bytes(),
                "retransmissions",
                link.retransmissions(),
                "bound",
                link.bound());
    }

    private static void connection(Appendable to, Connection connection) throws IOException {
        line(
                to,
                "connection",
                "connection",
                connection.key(),
                "direction",
                connection.direction(),
                "protocol",
                connection.protocol(),
                "sendLinks",
                connection.senderFields().get("links"),
                "sendQps",
                connection.senderFields().get("qps"),
                "receiveLinks",
                connection.receiverFields().get("links"),
                "receiveQps",
                connection.receiverFields().get("qps"));
    }

    private static void message(Appendable to, Connection connection, Message message) throws IOException {
        if (message.posted() != 0 || message.receivePosted() != 0) {
            line(
                    to,
                    "message",
                    "connection",
                    connection.key(),
                    "direction",
                    connection.direction(),
                    "links",
                    connection.links(),
                    "number",
                    message.number(),
                    "bytes",
                    message.bytes(),
                    "tried",
                    message.tried(),
                    "posted",
                    message.posted(),
                    "sent",
                    message.sent(),
                    "receivePosted",
                    message.receivePosted(),
                    "received",
                    message.received());
        }
    }

    private static void line(Appendable to, String kind, Object... namesAndValues) throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("kind", kind);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put(namesAndValues[i].toString(), namesAndValues[i + 1]);
        }
        append(to, fields);
    }

    private static void append(Appendable to, Map<String, Object> fields) throws IOException {
        String separator = "{";
        for (Map.Entry<String, Object> field : fields.entrySet()) {
            to.append(separator).append(quoted(field.getKey())).append(':');
            Object value = field.getValue();
            to.append(value instanceof String text ? quoted(text) : value.toString());
            separator = ",";
        }
        to.append("}\n");
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(character -> {
            if (character == '"' || character == '\\') {
                quoted.append('\\').append((char) character);
            } else if (character < ' ') {
                quoted.append("\\u%04x".formatted(character));
            } else {
                quoted.append((char) character);
            }
        });
        return quoted.append('"').toString();
    }
}
