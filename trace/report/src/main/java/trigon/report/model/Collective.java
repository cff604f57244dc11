package trigon.report.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One collective operation on all ranks; without NCCL's profiler, a time in which messages went. */
public final class Collective {

    /** A rank's part in it; times are nanoseconds on the run's clock, 0 where the trace does not have them. */
    public static final class Part {

        long called;
        long started;
        long ended;

        /** When the program called, on the run's clock; where that is not known, {@link #started}. */
        public long called() {
            return called == 0 ? started : called;
        }

        /** When NCCL began with it. */
        public long started() {
            return started;
        }

        /** When its last step was done. */
        public long ended() {
            return ended;
        }
    }

    private final String name;
    private final String communicator;
    private final long sequence;
    long bytes;
    String algorithm = "";
    int channels;
    int ranks;
    int nodes;
    private final Map<Integer, Part> parts = new TreeMap<>();
    private final List<Message> messages = new ArrayList<>();

    Collective(String name, String communicator, long sequence) {
        this.name = name;
        this.communicator = communicator;
        this.sequence = sequence;
    }

    /** For example {@code AllReduce}. */
    public String name() {
        return name;
    }

    /** By NCCL's number of it. */
    public String communicator() {
        return communicator;
    }

    /** Its place among the communicator's. */
    public long sequence() {
        return sequence;
    }

    /** Bytes of one rank's part. */
    public long bytes() {
        return bytes;
    }

    /** For example {@code Ring/Simple}; empty where that is not known. */
    public String algorithm() {
        return algorithm;
    }

    /** NCCL's channels of it; 0 where that is not known. */
    public int channels() {
        return channels;
    }

    /** Ranks of the communicator; 0 where that is not known. */
    public int ranks() {
        return ranks;
    }

    /** Nodes of the communicator; 0 where that is not known. */
    public int nodes() {
        return nodes;
    }

    /** Parts of the ranks, by number; ranks without a trace are missing. */
    public Map<Integer, Part> parts() {
        return parts;
    }

    /** Those that went between its begin and its end, or that the profiler names as its own. */
    public List<Message> messages() {
        return messages;
    }

    Part part(int rank) {
        return parts.computeIfAbsent(rank, _ -> new Part());
    }

    /** When the first rank called. */
    public long start() {
        return parts.values().stream().mapToLong(Part::called).min().orElse(0);
    }

    /** When the last one was done. */
    public long end() {
        return parts.values().stream().mapToLong(Part::ended).max().orElse(0);
    }

    /** From the first call to the last end. */
    public long wall() {
        return Math.max(0, end() - start());
    }
}
