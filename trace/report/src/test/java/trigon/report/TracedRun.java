package trigon.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import trigon.trace.Fields;
import trigon.trace.RecordKind;
import trigon.trace.Recorder;
import trigon.trace.Ring;
import trigon.trace.TableLayout;

/** Writes traces as a run of two or more ranks would, with times that the test says. */
public final class TracedRun implements AutoCloseable {

    private final Path folder;
    private final Arena arena = Arena.ofShared();
    private final Map<Integer, Recorder> recorders = new HashMap<>();
    private final Map<Integer, Long> clocks = new HashMap<>();
    private final Map<String, Ring> rings = new HashMap<>();

    public TracedRun(Path folder) {
        this.folder = folder;
    }

    /** A rank on a machine of its own, whose clock is so far ahead. */
    public TracedRun rank(int number, String machine, long ahead) {
        try {
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            Fields process = Fields.of(
                    "host",
                    machine,
                    "boot",
                    machine,
                    "pid",
                    -1,
                    "rank",
                    number,
                    "time",
                    1_000_000 + ahead,
                    "real",
                    1_000_000);
            recorders.put(number, Recorder.begin(folder, folder, machine + "-" + number, process, table, _ -> {}));
            clocks.put(number, ahead);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A connection from one rank to another, over software links, or by rendezvous over RDMA devices. */
    public TracedRun connect(int from, int to, String protocol, Object... more) {
        String key = from + "to" + to;
        for (int rank : new int[] {from, to}) {
            Fields fields = Fields.of(
                    "kind",
                    rank == from ? "send" : "receive",
                    "connection",
                    key,
                    "communicator",
                    "1",
                    "protocol",
                    protocol,
                    "links",
                    protocol.equals("RENDEZVOUS") ? "dev" + rank + "of" + key : "sw_" + key,
                    "addresses",
                    "10.0.0." + rank,
                    "qps",
                    "0x%06x".formatted(0x20 + rank));
            for (int i = 0; i < more.length; i += 2) {
                fields = fields.with(more[i].toString(), more[i + 1]);
            }
            rings.put(key + rank, Objects.requireNonNull(recorder(rank).open(fields)));
        }
        return this;
    }

    /** A message whose times are true ones: first try, post and end of the send; post and end of the receive. */
    public void message(
            int from, int to, long number, long bytes, long tried, long posted, long sent, long wanted, long received) {
        message(from, to, number, bytes, tried, posted, sent, wanted, received, 0);
    }

    /** The same, where the receiver's thread had not asked for so long. */
    public void message(
            int from,
            int to,
            long number,
            long bytes,
            long tried,
            long posted,
            long sent,
            long wanted,
            long received,
            int gap) {
        String key = from + "to" + to;
        Ring sender = ring(key + from);
        long ofSender = clock(from);
        if (tried != posted) {
            sender.write(tried + ofSender, number, RecordKind.SEND_WAITS, 0, 0, bytes);
        }
        sender.write(posted + ofSender, number, RecordKind.SEND_POSTED, 0, 0, bytes);
        sender.write(sent + ofSender, number, RecordKind.SEND_DONE, 0, 0, bytes);
        Ring receiver = ring(key + to);
        receiver.write(wanted + clock(to), number, RecordKind.RECEIVE_POSTED, 0, 0, bytes);
        receiver.write(received + clock(to), number, RecordKind.RECEIVE_DONE, 0, gap, bytes);
    }

    /** A sign of life, with true times of its two ends. */
    public void sign(int from, int to, long count, long said, long heard) {
        Fields sign = Fields.of("from", "10.0.0." + from, "to", "10.0.0." + to, "count", count);
        recorder(from).event("alive said", sign.with("time", said + clock(from)));
        recorder(to).event("alive heard", sign.with("time", heard + clock(to)));
    }

    /** One end of a connection goes on over another path, after a pause. */
    public void moved(int from, int to, int rank, long time, long pause) {
        recorder(rank)
                .event(
                        "path moved",
                        Fields.of("connection", from + "to" + to, "pause", pause)
                                .with("time", time + clock(rank)));
    }

    /** The number of a connection's stream at one of its ends. */
    public int stream(int from, int to, int rank) {
        return ring(from + "to" + to + rank).stream();
    }

    public Recorder recorder(int rank) {
        return Objects.requireNonNull(recorders.get(rank));
    }

    private Ring ring(String name) {
        return Objects.requireNonNull(rings.get(name));
    }

    private long clock(int rank) {
        return Objects.requireNonNull(clocks.get(rank));
    }

    @Override
    public void close() {
        recorders.values().forEach(Recorder::close);
    }
}
