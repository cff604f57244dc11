package trigon.report.view;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import trigon.report.model.Collective;
import trigon.report.model.Connection;
import trigon.report.model.Message;
import trigon.report.model.Rank;
import trigon.report.model.Run.Happening;
import trigon.report.path.CriticalPath.Segment;
import trigon.report.read.Stream;
import trigon.report.summary.LinkRow;
import trigon.report.summary.Report;
import trigon.trace.RingLayout;

/** Everything that is known of a run, an object a line; times are nanoseconds on the run's clock. */
public final class JsonLines {

    private static final List<String> MEASURES = List.of("credit", "sent", "received");

    private final JsonGenerator json;

    private JsonLines(JsonGenerator json) {
        this.json = json;
    }

    /**
     * Writes the report, one object a line, and does not close the stream.
     *
     * @throws IOException if it cannot be written
     */
    public static void write(Report report, OutputStream to) throws IOException {
        try (JsonGenerator json = new JsonFactory()
                .createGenerator(to)
                .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
                .setPrettyPrinter(new MinimalPrettyPrinter("\n"))) {
            new JsonLines(json).write(report);
            json.writeRaw('\n');
        }
    }

    private void write(Report report) throws IOException {
        line("run", "verdict", report.verdict(), "profiled", report.run().profiled());
        for (String problem : report.run().problems()) {
            line("problem", "text", problem);
        }
        for (Rank rank : report.run().ranks()) {
            String file = rank.trace().file();
            line("rank", "number", rank.number(), "host", rank.host(), "file", file);
            for (Stream stream : rank.trace().streams().values()) {
                histograms(rank, stream);
            }
        }
        for (int i = 0; i < report.run().collectives().size(); i++) {
            collective(i, report.run().collectives().get(i));
            for (Segment each : report.paths().get(i)) {
                begin("segment", "collective", i, "cause", each.cause().word(), "place", each.place());
                end("from", each.from(), "to", each.to());
            }
        }
        for (LinkRow link : report.links()) {
            begin("link", "direction", link.direction(), "links", link.links(), "messages", link.messages());
            end("bytes", link.bytes(), "retransmissions", link.retransmissions(), "bound", link.bound());
        }
        for (Connection connection : report.run().connections()) {
            connection(connection);
            for (Message message : connection.messages()) {
                message(connection, message);
            }
        }
        for (Happening happening : report.run().happenings()) {
            begin("event", "rank", happening.rank().number(), "at", happening.time());
            for (Map.Entry<String, String> field :
                    happening.event().fields().asMap().entrySet()) {
                if (!field.getKey().equals("time")) {
                    fields(field.getKey(), field.getValue());
                }
            }
            end();
        }
    }

    /** The recorder's own counts of a stream, which are exact even where records were lost. */
    private void histograms(Rank rank, Stream stream) throws IOException {
        for (int measure = 0; measure < RingLayout.MEASURES; measure++) {
            for (int size = 0; size < RingLayout.SIZE_CLASSES; size++) {
                long count = stream.histogram(measure, size, 0);
                if (count > 0) {
                    begin(
                            "histogram",
                            "rank",
                            rank.number(),
                            "connection",
                            stream.fields().get("connection"));
                    fields("measure", MEASURES.get(measure), "maxBytes", RingLayout.largestOf(size), "count", count);
                    fields("sum", stream.histogram(measure, size, 1));
                    buckets(stream, measure, size);
                    end();
                }
            }
        }
    }

    /** Pairs of a bucket's end in nanoseconds and its count, of the buckets that are not empty. */
    private void buckets(Stream stream, int measure, int size) throws IOException {
        json.writeArrayFieldStart("buckets");
        for (int bucket = 0; bucket < RingLayout.BUCKETS; bucket++) {
            long count = stream.histogram(measure, size, RingLayout.FIRST_BUCKET + bucket);
            if (count > 0) {
                json.writeArray(new long[] {RingLayout.endOf(bucket), count}, 0, 2);
            }
        }
        json.writeEndArray();
    }

    private void collective(int index, Collective collective) throws IOException {
        begin("collective", "index", index, "name", collective.name(), "bytes", collective.bytes());
        fields("algorithm", collective.algorithm(), "communicator", collective.communicator());
        end("sequence", collective.sequence(), "start", collective.start(), "end", collective.end());
    }

    private void connection(Connection each) throws IOException {
        begin("connection", "connection", each.key(), "direction", each.direction(), "protocol", each.protocol());
        fields(
                "sendLinks",
                each.senderFields().get("links"),
                "sendQps",
                each.senderFields().get("qps"));
        end(
                "receiveLinks",
                each.receiverFields().get("links"),
                "receiveQps",
                each.receiverFields().get("qps"));
    }

    private void message(Connection connection, Message message) throws IOException {
        if (message.posted() != 0 || message.receivePosted() != 0) {
            begin("message", "connection", connection.key(), "direction", connection.direction());
            fields("links", connection.links(), "number", message.number(), "bytes", message.bytes());
            fields("tried", message.tried(), "posted", message.posted(), "sent", message.sent());
            end("receivePosted", message.receivePosted(), "received", message.received());
        }
    }

    private void line(String kind, Object... namesAndValues) throws IOException {
        begin(kind, namesAndValues);
        end();
    }

    private void begin(String kind, Object... namesAndValues) throws IOException {
        json.writeStartObject();
        json.writeStringField("kind", kind);
        fields(namesAndValues);
    }

    private void fields(Object... namesAndValues) throws IOException {
        for (int i = 0; i < namesAndValues.length; i += 2) {
            json.writeFieldName(namesAndValues[i].toString());
            Object value = namesAndValues[i + 1];
            json.writeObject(value instanceof Number || value instanceof Boolean ? value : value.toString());
        }
    }

    private void end(Object... namesAndValues) throws IOException {
        fields(namesAndValues);
        json.writeEndObject();
    }
}
