package trigon.policy.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import trigon.policy.program.ProgramType.Field.Direction;
import trigon.system.Memory;

/**
 * A kind of program.
 *
 * @param section the section its programs are in
 * @param fields of the context, without overlaps
 * @param contextBytes size of the context
 * @param helpers which it may call
 * @param minResult the smallest number it may return, signed
 * @param maxResult the largest number it may return, signed
 * @param ranksMustAgree whether the outputs have to be the same on all ranks: if they are not, NCCL hangs
 * @param maxInstructions how many instructions one run may take at most
 */
public record ProgramType(
        String section,
        List<Field> fields,
        int contextBytes,
        Set<Helper> helpers,
        long minResult,
        long maxResult,
        boolean ranksMustAgree,
        int maxInstructions) {

    /** Returned by a program: its outputs count. */
    public static final int APPLY = 0;
    /** Returned by a program: the host decides as if there was none. */
    public static final int PASS = 1;

    /** Follows the section's name of a program that does without the proof that all ranks decide alike. */
    public static final String ADVISORY = "/advisory";

    private static final int MAX_CHANNELS = 64;
    private static final int ALL_ALGORITHMS = (1 << 7) - 1;
    private static final long MAX_CHUNK = 1L << 30;
    private static final int MAX_QUEUE_PAIRS = 8;
    private static final int MAX_TRAFFIC_CLASS = 255;
    private static final Set<Helper> ALL_HELPERS = Set.of(Helper.values());
    private static final Set<Helper> ON_MAPS = Set.of(Helper.MAP_LOOKUP, Helper.MAP_UPDATE, Helper.MAP_DELETE);

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

    public ProgramType {
        fields = List.copyOf(fields);
        helpers = Set.copyOf(helpers);
    }

    /** The field at an offset, if one starts there. */
    public Optional<Field> fieldAt(long offset) {
        return fields.stream().filter(field -> field.offset() == offset).findFirst();
    }

    public Optional<Helper> helper(int number) {
        return helpers.stream().filter(helper -> helper.number() == number).findFirst();
    }

    /** @throws IllegalArgumentException if there is no such field */
    public Field field(String name) {
        return fields.stream()
                .filter(field -> field.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(section + " has no field " + name));
    }

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
        return new LayoutBuilder()
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
                .output32("avoid", 0, ALL_ALGORITHMS)
                .decision("tuner", true, 50_000);
    }

    private static ProgramType chunk() {
        return new LayoutBuilder()
                .uniform64("n_bytes")
                .uniform64("comm_id")
                .uniform64("chunk_of_nccl")
                .uniform32("coll_type")
                .uniform32("n_ranks")
                .uniform32("n_nodes")
                .uniform32("algorithm")
                .uniform32("protocol")
                .uniform32("n_channels")
                .output64("chunk_bytes", 0, MAX_CHUNK)
                .decision("chunk", true, 50_000);
    }

    private static ProgramType profiler() {
        return new LayoutBuilder()
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
                .local32("sends")
                .type("profiler", ALL_HELPERS, Long.MIN_VALUE, Long.MAX_VALUE, false, 50_000);
    }

    private static ProgramType connect() {
        return new LayoutBuilder()
                .local64("peer")
                .local64("link_mbps")
                .local32("links")
                .local32("rdma")
                .local32("relayed")
                .local32("traffic_class_of_job")
                .output32("n_queue_pairs", 0, MAX_QUEUE_PAIRS)
                .output32("n_links", 0, MAX_QUEUE_PAIRS)
                .output32("traffic_class", -1, MAX_TRAFFIC_CLASS)
                .output32("relay", -1, 1)
                .decision("net/connect", false, 200_000);
    }

    /** 72 bytes, of which latencies are what this rank has measured. */
    private static ProgramType ncclBpf() {
        return new LayoutBuilder()
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
                .uniform32("reserved")
                .type(NcclBpf.SECTION, ON_MAPS, Long.MIN_VALUE, Long.MAX_VALUE, true, 50_000);
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

        /** A kind whose programs return {@link #APPLY} or {@link #PASS}. */
        ProgramType decision(String section, boolean ranksMustAgree, int maxInstructions) {
            return type(section, ALL_HELPERS, APPLY, PASS, ranksMustAgree, maxInstructions);
        }

        ProgramType type(
                String section,
                Set<Helper> helpers,
                long minResult,
                long maxResult,
                boolean ranksMustAgree,
                int maxInstructions) {
            int bytes = (end + 7) / 8 * 8;
            return new ProgramType(
                    section, fields, bytes, helpers, minResult, maxResult, ranksMustAgree, maxInstructions);
        }
    }

    /**
     * A field of a context: a whole number, read and written in one piece.
     *
     * @param name as in {@code trigon_policy.h}
     * @param offset in bytes, a multiple of the size
     * @param bytes 4 or 8
     * @param direction whether programs may write it
     * @param uniform whether all ranks see the same number in the same call
     * @param min the smallest number a program may write, signed
     * @param max the largest number a program may write, signed
     */
    public record Field(String name, int offset, int bytes, Direction direction, boolean uniform, long min, long max) {

        /** The writer of a field. */
        public enum Direction {
            /** The host, for the program to read. */
            INPUT,
            /** The host writes what stands if the program says nothing; the program may read and write it. */
            OUTPUT
        }

        public boolean isOutput() {
            return direction == Direction.OUTPUT;
        }

        /** Writes it into a context; what does not fit is cut off. */
        public void set(long context, long value) {
            if (bytes == Long.BYTES) {
                Memory.putLong(context + offset, value);
            } else {
                Memory.putInt(context + offset, (int) value);
            }
        }

        /** Reads it from a context, sign-extended. */
        public long get(long context) {
            return bytes == Long.BYTES ? Memory.getLong(context + offset) : Memory.getInt(context + offset);
        }
    }
}
