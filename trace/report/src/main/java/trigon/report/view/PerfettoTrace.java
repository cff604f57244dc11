package trigon.report.view;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Collective;
import trigon.report.model.Connection;
import trigon.report.model.Message;
import trigon.report.model.Rank;
import trigon.report.path.CriticalPath.Segment;
import trigon.report.summary.Amounts;
import trigon.report.summary.Report;

/**
 * A run as a trace of Perfetto's (ui.perfetto.dev): a process for each rank, tracks for each connection, and a flow
 * from each send to its receive. The fields' numbers are those of Perfetto's {@code trace_packet.proto}, {@code
 * track_event.proto} and {@code track_descriptor.proto}.
 */
public final class PerfettoTrace {

    private static final int TRACE_PACKET = 1;
    private static final int PACKET_TIMESTAMP = 8;
    private static final int PACKET_SEQUENCE = 10;
    private static final int PACKET_TRACK_EVENT = 11;
    private static final int PACKET_TRACK_DESCRIPTOR = 60;
    private static final int DESCRIPTOR_UUID = 1;
    private static final int DESCRIPTOR_NAME = 2;
    private static final int DESCRIPTOR_PROCESS = 3;
    private static final int DESCRIPTOR_PARENT = 5;
    private static final int PROCESS_PID = 1;
    private static final int PROCESS_NAME = 6;
    private static final int EVENT_TYPE = 9;
    private static final int EVENT_TRACK = 11;
    private static final int EVENT_CATEGORIES = 22;
    private static final int EVENT_NAME = 23;
    private static final int EVENT_FLOWS = 47;
    private static final int SLICE_BEGIN = 1;
    private static final int SLICE_END = 2;

    private static final int SEQUENCE = 1;

    /** Messages of a connection that are on their way at a time overlap, which slices of one track must not. */
    private static final int LANES = 32;

    private final OutputStream to;
    private final Map<String, Long> tracks = new HashMap<>();
    private long flows;

    private PerfettoTrace(OutputStream to) {
        this.to = to;
    }

    /**
     * Writes the run as a trace for ui.perfetto.dev, and does not close the stream.
     *
     * @throws IOException if it cannot be written
     */
    public static void write(Report report, OutputStream to) throws IOException {
        PerfettoTrace trace = new PerfettoTrace(to);
        for (Rank rank : report.run().ranks()) {
            trace.process(rank);
        }
        for (int i = 0; i < report.paths().size(); i++) {
            trace.collective(report.run().collectives().get(i), report.paths().get(i));
        }
        for (Connection connection : report.run().connections()) {
            for (Message message : connection.messages()) {
                trace.message(connection, message);
            }
        }
    }

    private void process(Rank rank) throws IOException {
        long uuid = tracks.size() + 1L;
        tracks.put(rank.name(), uuid);
        packet(0, PACKET_TRACK_DESCRIPTOR, descriptor -> {
            descriptor.writeUInt64(DESCRIPTOR_UUID, uuid);
            descriptor.writeBytes(DESCRIPTOR_PROCESS, content(process -> {
                process.writeInt32(PROCESS_PID, rank.number() + 1);
                process.writeString(PROCESS_NAME, rank.toString());
            }));
        });
    }

    private long track(String name, @Nullable Rank parent) throws IOException {
        String key = (parent == null ? "" : parent.name()) + " " + name;
        Long known = tracks.get(key);
        if (known != null) {
            return known;
        }
        long uuid = tracks.size() + 1L;
        tracks.put(key, uuid);
        packet(0, PACKET_TRACK_DESCRIPTOR, descriptor -> {
            descriptor.writeUInt64(DESCRIPTOR_UUID, uuid);
            descriptor.writeString(DESCRIPTOR_NAME, name);
            Long above = parent == null ? null : tracks.get(parent.name());
            if (above != null) {
                descriptor.writeUInt64(DESCRIPTOR_PARENT, above);
            }
        });
        return uuid;
    }

    private void collective(Collective collective, List<Segment> path) throws IOException {
        long track = track("critical path", null);
        slice(
                track,
                collective.start(),
                collective.end(),
                collective.name() + " " + Amounts.size(collective.bytes()),
                "collective",
                0);
        for (Segment segment : path) {
            slice(
                    track("critical path by cause", null),
                    segment.from(),
                    segment.to(),
                    segment.cause().word() + ", " + segment.place(),
                    "path",
                    0);
        }
    }

    private void message(Connection connection, Message message) throws IOException {
        long flow = message.isWhole() ? ++flows : 0;
        String name = Amounts.size(message.bytes()) + " #" + message.number();
        long lane = message.number() % LANES;
        if (message.posted() != 0 && message.sent() != 0) {
            long track =
                    track("sends " + connection.describe() + " " + connection.key() + "." + lane, connection.sender());
            slice(track, message.posted(), message.sent(), name, "send", flow);
        }
        if (message.receivePosted() != 0 && message.received() != 0) {
            long track = track(
                    "receives " + connection.describe() + " " + connection.key() + "." + lane, connection.receiver());
            slice(track, message.receivePosted(), message.received(), name, "receive", flow);
        }
    }

    private void slice(long track, long from, long until, String name, String category, long flow) throws IOException {
        packet(from, PACKET_TRACK_EVENT, event -> {
            event.writeEnum(EVENT_TYPE, SLICE_BEGIN);
            event.writeUInt64(EVENT_TRACK, track);
            event.writeString(EVENT_CATEGORIES, category);
            event.writeString(EVENT_NAME, name);
            if (flow != 0) {
                event.writeFixed64(EVENT_FLOWS, flow);
            }
        });
        packet(until, PACKET_TRACK_EVENT, event -> {
            event.writeEnum(EVENT_TYPE, SLICE_END);
            event.writeUInt64(EVENT_TRACK, track);
        });
    }

    private interface Content {
        void write(CodedOutputStream to) throws IOException;
    }

    private static ByteString content(Content content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream coded = CodedOutputStream.newInstance(bytes);
        content.write(coded);
        coded.flush();
        return ByteString.copyFrom(bytes.toByteArray());
    }

    private void packet(long time, int field, Content content) throws IOException {
        ByteString packet = content(coded -> {
            if (time != 0) {
                coded.writeUInt64(PACKET_TIMESTAMP, time);
            }
            coded.writeUInt32(PACKET_SEQUENCE, SEQUENCE);
            coded.writeBytes(field, content(content));
        });
        CodedOutputStream coded = CodedOutputStream.newInstance(to);
        coded.writeBytes(TRACE_PACKET, packet);
        coded.flush();
    }
}
