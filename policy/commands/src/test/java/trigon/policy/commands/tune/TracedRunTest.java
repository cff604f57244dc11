package trigon.policy.commands.tune;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.commands.tune.Sample.Asked;
import trigon.trace.Fields;
import trigon.trace.RecordKind;
import trigon.trace.Recorder;
import trigon.trace.Ring;
import trigon.trace.TableLayout;

/** Choices in the traces of two ranks: rank 1 is late each time, as one with more to compute. */
class TracedRunTest {

    private static final Choice RING = new Choice(1, 0, 1);
    private static final Choice TREE = new Choice(0, 0, 1);
    private static final Asked WHAT = new Asked(4, 2, 2, 4096);

    private static final int TURNS = 40;
    private static final int CALLS_IN_A_ROW = 8;
    private static final long BEGIN = 5_000_000_000L;
    private static final long US = 1000;
    private static final long LATE = 40 * US;
    private static final long STEP = 25 * US;

    private static final int ALL_REDUCE = 1;
    private static final int COLLECTIVE_EVENT = 1;
    private static final int STEP_EVENT = 4;
    private static final int SEND_TAKEN = 9;

    @TempDir
    private Path folder;

    /** One of the two processes, which sends to the other. */
    private final class TracedRank implements AutoCloseable {

        private final int number;
        private final Recorder recorder;
        private final Ring events;
        private final Ring sends;
        private final Ring receives;

        TracedRank(Arena arena, int number) throws IOException {
            this.number = number;
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            Fields process = Fields.of("host", "a", "boot", "a", "pid", -1, "rank", number, "time", 1, "real", 1);
            recorder = Recorder.begin(folder, folder, "a-" + number, process, table, _ -> {});
            events = open(Fields.of("kind", "thread"));
            sends = open(comm("send", number));
            receives = open(comm("receive", 1 - number));
        }

        private static Fields comm(String kind, int sender) {
            return Fields.of("kind", kind, "connection", "of" + sender, "communicator", "1", "protocol", "EAGER");
        }

        private Ring open(Fields fields) {
            return Objects.requireNonNull(recorder.open(fields));
        }

        /** What NCCL's profiler says of a collective and the message that this process sends for it. */
        void profile(Choice choice, long call, long at) {
            long event = 2 * call + 1;
            int how = ALL_REDUCE
                    | ((choice.algorithm() + 1) << 8)
                    | ((choice.protocol() + 1) << 16)
                    | (choice.channels() << 24);
            events.write(at, event, RecordKind.EVENT_START, COLLECTIVE_EVENT, 0, 0);
            events.write(at, event, RecordKind.EVENT_DETAIL, 0, number, 2 | (2L << 32));
            events.write(at, event, RecordKind.EVENT_DETAIL, 1, how, WHAT.bytes());
            events.write(at, event, RecordKind.EVENT_DETAIL, 2, 0, call);
            events.write(at, event, RecordKind.EVENT_DETAIL, 3, 0, 0xC0FFEE);
            events.write(at, event + 1, RecordKind.EVENT_START, STEP_EVENT, 0, event);
            events.write(at, event + 1, RecordKind.EVENT_STATE, SEND_TAKEN, sends.stream(), call);
        }

        @Override
        public void close() {
            recorder.close();
        }
    }

    /** A message that leaves at once. */
    private static void message(TracedRank from, TracedRank to, long call, long posted, long received) {
        from.sends.write(posted, call, RecordKind.SEND_POSTED, 0, 0, WHAT.bytes());
        from.sends.write(posted + US, call, RecordKind.SEND_DONE, 0, 0, WHAT.bytes());
        to.receives.write(posted, call, RecordKind.RECEIVE_POSTED, 0, 0, WHAT.bytes());
        to.receives.write(received, call, RecordKind.RECEIVE_DONE, 0, 0, WHAT.bytes());
    }

    /** A run of both choices in turns, one collective right after the other. */
    private TracedRun run(long ofRing, long ofTree) throws IOException {
        try (Arena arena = Arena.ofShared();
                TracedRank root = new TracedRank(arena, 0);
                TracedRank leaf = new TracedRank(arena, 1)) {
            long begin = BEGIN;
            for (long call = 0; call < TURNS * CALLS_IN_A_ROW; call++) {
                boolean tree = call / CALLS_IN_A_ROW % 2 == 1;
                long end = begin + (tree ? ofTree : ofRing);
                root.profile(tree ? TREE : RING, call, begin);
                leaf.profile(tree ? TREE : RING, call, begin);
                // in a ring both send at once; the root of a tree has nothing to send before the leaf's message
                message(leaf, root, call, begin + LATE, begin + LATE + STEP);
                message(root, leaf, call, tree ? begin + LATE + STEP : begin, end);
                begin = end;
            }
        }
        return TracedRun.read(folder);
    }

    private static List<Row> confirmed(TracedRun run) {
        assertThat(run.problem()).isEmpty();
        return Selection.confirmed(List.of(new Row(WHAT, TREE, RING, 100, 80, 20)), run.samples());
    }

    /** The tree's messages begin when the late rank sends, the ring's before: that does not make it faster. */
    @Test
    void aTreeThatBeginsLateIsNotFaster() throws IOException {
        TracedRun run = run(100 * US, 100 * US);

        assertThat(run.samples()).hasSize(TURNS).allSatisfy(sample -> {
            assertThat(sample.nanos()).isEqualTo(100 * US);
            assertThat(sample.count()).isEqualTo(CALLS_IN_A_ROW - 1);
        });
        assertThat(confirmed(run)).isEmpty();
    }

    @Test
    void aTreeThatEndsEarlierIsFaster() throws IOException {
        assertThat(confirmed(run(110 * US, 99 * US)))
                .containsExactly(new Row(WHAT, TREE, RING, 110 * US, 99 * US, 7 * TURNS / 2));
    }
}
