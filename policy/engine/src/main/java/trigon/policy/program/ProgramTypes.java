package trigon.policy.program;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import trigon.policy.program.Field.Direction;

/** The kinds of programs there are. */
public final class ProgramTypes {

    /** Follows the section's name of a program that does without the proof that all ranks decide alike. */
    public static final String ADVISORY = "/advisory";

    private static final int MAX_CHANNELS = 64;
    private static final int ALL_ALGORITHMS = (1 << 7) - 1;
    private static final long MAX_CHUNK = 1L << 30;
    private static final int MAX_QUEUE_PAIRS = 8;
    private static final int MAX_TRAFFIC_CLASS = 255;

    /**
     * NCCL's tuner, {@code getCollInfo}: chooses algorithm, protocol and number of channels of a collective. -1, -1
     * and 0 leave the choice to NCCL. {@code avoid} has a bit for each algorithm that is to be the last resort.
     *
     * <p>{@code costs} of NCCL's table are not in here: NCCL computes them on each rank. Neither is a clock.
     */
    public static final ProgramType TUNER = tuner();

    /** NCCL's tuner, {@code getChunkSize}: chooses the pieces of a collective whose rest is decided. */
    public static final ProgramType CHUNK = chunk();

    /** NCCL's profiler: told about events that ended. Its result is ignored. */
    public static final ProgramType PROFILER = profiler();

    /** The network's {@code connect}: chooses how one connection is set up. -1 and 0 leave the choice to the host. */
    public static final ProgramType CONNECT = connect();

    /** A tuner that was written for NCCLbpf: its result says all, see {@link NcclBpf}. */
    public static final ProgramType NCCLBPF = ncclBpf();

    private static final List<ProgramType> ALL = List.of(TUNER, CHUNK, PROFILER, CONNECT, NCCLBPF);

    private ProgramTypes() {}

    public static List<ProgramType> all() {
        return ALL;
    }

    /** The kind of the programs in a section, advisory or not. */
    public static Optional<ProgramType> ofSection(String section) {
        String plain = isAdvisory(section) ? section.substring(0, section.length() - ADVISORY.length()) : section;
        return ALL.stream().filter(type -> type.section().equals(plain)).findFirst();
    }

    public static boolean isAdvisory(String section) {
        return section.endsWith(ADVISORY);
    }

    private static ProgramType tuner() {
        LayoutBuilder layout = new LayoutBuilder()
                .uniform64("n_bytes")
                .uniform64("comm_id")
                .uniform64("call_seq")
                .uniform32("coll_type")
                .uniform32("n_ranks")
                .uniform32("n_nodes")
                .uniform32("num_pipe_ops")
                .local32("rank")
                .local32("reg_buff")
                .output32("algorithm", -1, 6)
                .output32("protocol", -1, 2)
                .output32("n_channels", 0, MAX_CHANNELS)
                .output32("avoid", 0, ALL_ALGORITHMS);
        return decision("tuner", layout, true, 50_000);
    }

    private static ProgramType chunk() {
        LayoutBuilder layout = new LayoutBuilder()
                .uniform64("n_bytes")
                .uniform64("comm_id")
                .uniform64("chunk_of_nccl")
                .uniform32("coll_type")
                .uniform32("n_ranks")
                .uniform32("n_nodes")
                .uniform32("algorithm")
                .uniform32("protocol")
                .uniform32("n_channels")
                .output64("chunk_bytes", 0, MAX_CHUNK);
        return decision("chunk", layout, true, 50_000);
    }

    private static ProgramType profiler() {
        LayoutBuilder layout = new LayoutBuilder()
                .local64("n_bytes")
                .local64("comm_id")
                .local64("sequence")
                .local64("start_ns")
                .local64("duration_ns")
                .local32("event_type")
                .local32("coll_type")
                .local32("algorithm")
                .local32("protocol")
                .local32("n_channels")
                .local32("channel")
                .local32("rank")
                .local32("peer")
                .local32("sends");
        return new ProgramType(
                "profiler",
                layout.fields(),
                layout.bytes(),
                EnumSet.allOf(Helper.class),
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                false,
                50_000);
    }

    private static ProgramType connect() {
        LayoutBuilder layout = new LayoutBuilder()
                .local64("peer")
                .local64("link_mbps")
                .local32("links")
                .local32("rdma")
                .local32("relayed")
                .local32("traffic_class_of_job")
                .output32("n_queue_pairs", 0, MAX_QUEUE_PAIRS)
                .output32("n_links", 0, MAX_QUEUE_PAIRS)
                .output32("traffic_class", -1, MAX_TRAFFIC_CLASS)
                .output32("relay", -1, 1);
        return decision("net/connect", layout, false, 200_000);
    }

    /** 72 bytes, of which latencies are what this rank has measured. */
    private static ProgramType ncclBpf() {
        LayoutBuilder layout = new LayoutBuilder()
                .uniform64("n_bytes")
                .local64("last_latency_ns")
                .local64("avg_latency_ns")
                .local64("rolling_p99_ns")
                .uniform64("call_count")
                .uniform32("coll_type")
                .uniform32("num_pipe_ops")
                .local32("reg_buff")
                .uniform32("n_ranks")
                .uniform32("n_nodes")
                .uniform32("current_channels")
                .uniform32("reserved");
        return new ProgramType(
                NcclBpf.SECTION,
                layout.fields(),
                layout.bytes(),
                EnumSet.of(Helper.MAP_LOOKUP, Helper.MAP_UPDATE, Helper.MAP_DELETE),
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                true,
                50_000);
    }

    private static ProgramType decision(
            String section, LayoutBuilder layout, boolean ranksMustAgree, int maxInstructions) {
        return new ProgramType(
                section,
                layout.fields(),
                layout.bytes(),
                EnumSet.allOf(Helper.class),
                ProgramType.APPLY,
                ProgramType.PASS,
                ranksMustAgree,
                maxInstructions);
    }

    /** Puts fields one behind the other, each at a multiple of its size, as C does. */
    private static final class LayoutBuilder {

        private final List<Field> fields = new ArrayList<>();
        private int end;

        /** An input of 8 bytes that is the same on all ranks. */
        LayoutBuilder uniform64(String name) {
            return add(name, 8, Direction.INPUT, true, 0, 0);
        }

        /** An input of 4 bytes that is the same on all ranks. */
        LayoutBuilder uniform32(String name) {
            return add(name, 4, Direction.INPUT, true, 0, 0);
        }

        /** An input of 8 bytes that each rank has its own of. */
        LayoutBuilder local64(String name) {
            return add(name, 8, Direction.INPUT, false, 0, 0);
        }

        /** An input of 4 bytes that each rank has its own of. */
        LayoutBuilder local32(String name) {
            return add(name, 4, Direction.INPUT, false, 0, 0);
        }

        /** Outputs of 4 bytes, with bounds. */
        LayoutBuilder output32(String name, long min, long max) {
            return add(name, 4, Direction.OUTPUT, true, min, max);
        }

        /** Outputs of 8 bytes, with bounds. */
        LayoutBuilder output64(String name, long min, long max) {
            return add(name, 8, Direction.OUTPUT, true, min, max);
        }

        private LayoutBuilder add(String name, int bytes, Direction direction, boolean uniform, long min, long max) {
            int offset = (end + bytes - 1) / bytes * bytes;
            fields.add(new Field(name, offset, bytes, direction, uniform, min, max));
            end = offset + bytes;
            return this;
        }

        List<Field> fields() {
            return List.copyOf(fields);
        }

        int bytes() {
            return (end + 7) / 8 * 8;
        }
    }
}
