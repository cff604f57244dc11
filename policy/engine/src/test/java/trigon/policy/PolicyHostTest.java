package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.policy.compile.Compiler;
import trigon.policy.compile.PolicyCode;
import trigon.policy.compile.PolicyCode.BudgetExceededException;
import trigon.policy.map.MapAccess;
import trigon.policy.map.MapSet;
import trigon.policy.map.RingBuffer;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.VerifierLimits;

/** The examples decide as they say, and policies are replaced while they run. */
class PolicyHostTest {

    private static final ProgramType TUNER = ProgramType.TUNER;

    private final PolicyLoader loader = new PolicyLoader(VerifierLimits.DEFAULT);
    private final MapSet maps = new MapSet();
    private final PolicyHost host = new PolicyHost(loader, maps);
    private final PolicyHost.Slot tuner = host.slot(TUNER);
    private final ProgramContext context = new ProgramContext(TUNER);

    @AfterEach
    void free() {
        context.close();
    }

    private long tune(long bytes, int collective) {
        context.set(TUNER.field("n_bytes"), bytes);
        context.set(TUNER.field("coll_type"), collective);
        context.set(TUNER.field("algorithm"), -1);
        context.set(TUNER.field("protocol"), -1);
        context.set(TUNER.field("n_channels"), 0);
        return tuner.run(context);
    }

    private long output(String field) {
        return context.get(TUNER.field(field));
    }

    private static byte[] u32(int value) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }

    private static byte[] u64(long value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }

    private MapAccess map(String name) {
        return new MapAccess(maps.find(name).orElseThrow());
    }

    @Test
    void withoutAPolicyTheHostDecides() throws Exception {
        assertThat(tune(1, 4)).isEqualTo(ProgramType.PASS);
        host.replace("p", Objects.example("noop"));
        assertThat(tune(1, 4)).isEqualTo(ProgramType.PASS);
        host.replace("p", Objects.example("connect_by_speed"));
        assertThat(tune(1, 4)).isEqualTo(ProgramType.PASS);
        host.remove();
        assertThat(host.active()).isEmpty();
    }

    @Test
    void sizesDecide() throws Exception {
        host.replace("p", Objects.example("size_aware"));
        assertThat(tune(8 << 20, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(List.of(output("algorithm"), output("protocol"))).containsExactly(1L, 1L);
        assertThat(tune(64 << 20, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(output("protocol")).isEqualTo(2);
        assertThat(tune(64 << 20, 2)).isEqualTo(ProgramType.PASS);
        assertThat(tune(1 << 20, 4)).isEqualTo(ProgramType.PASS);
    }

    @Test
    void tablesDecide() throws Exception {
        host.replace("p", Objects.example("table"));
        ByteBuffer row = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        row.putLong(1000).putLong(2000).putInt(4).putInt(0).putInt(2).putInt(7);
        map("rows").put(u32(5), row.array());
        assertThat(tune(1500, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(List.of(output("algorithm"), output("protocol"), output("n_channels")))
                .containsExactly(0L, 2L, 7L);
        assertThat(tune(2500, 4)).isEqualTo(ProgramType.PASS);
    }

    @Test
    void functionsAreCalled() throws Exception {
        host.replace("p", Objects.example("hierarchy"));
        context.set(TUNER.field("n_nodes"), 2);
        context.set(TUNER.field("n_ranks"), 16);
        assertThat(tune(65536 << 4, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(output("algorithm")).isZero();
        tune((65536 << 4) + 1, 4);
        assertThat(output("algorithm")).isOne();
    }

    @Test
    void mapsAndConstantsDecide() throws Exception {
        host.replace("p", Objects.example("by_communicator"));
        context.set(TUNER.field("comm_id"), 77);
        assertThat(tune(1, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(output("n_channels")).isEqualTo(8);
        map("channels").put(u64(77), u32(1000));
        tune(1, 4);
        assertThat(output("n_channels")).isEqualTo(64);
    }

    @Test
    void mapsSurviveAReplacement() throws Exception {
        host.replace("p", Objects.example("ramp_up"));
        for (int i = 0; i < 32; i++) {
            tune(1, 4);
        }
        assertThat(output("n_channels")).isEqualTo(4);
        assertThat(map("progress_of").keys()).as("warming up left nothing").hasSize(1);
        host.replace("p", Objects.example("ramp_up"));
        tune(1, 4);
        assertThat(output("n_channels")).isEqualTo(4);
        tune(1, 3);
        assertThat(output("n_channels")).isEqualTo(2);
    }

    @Test
    void aBadOneLeavesTheOldOneActive() throws Exception {
        Policy first = host.replace("p", Objects.example("size_aware"));
        PolicyException refused = catchThrowableOfType(
                PolicyException.class, () -> host.replace("p", Objects.program("unsafe_null_check")));
        assertThat(refused.kind()).isEqualTo(PolicyException.Kind.VERIFICATION);
        refused = catchThrowableOfType(PolicyException.class, () -> host.replace("p", new byte[10]));
        assertThat(refused.kind()).isEqualTo(PolicyException.Kind.OBJECT);
        assertThat(host.active()).contains(first);
        assertThat(tune(8 << 20, 4)).isEqualTo(ProgramType.APPLY);
    }

    @Test
    void aMapOfAnotherLayoutIsRefused() throws Exception {
        byte[] rows = new String(Objects.example("table"), StandardCharsets.ISO_8859_1)
                .replace("\0rows\0", "\0seen\0")
                .getBytes(StandardCharsets.ISO_8859_1);
        // this map has the name of another one
        host.replace("r", rows);
        PolicyException refused =
                catchThrowableOfType(PolicyException.class, () -> host.replace("s", Objects.example("slow_events")));
        assertThat(refused.kind()).isEqualTo(PolicyException.Kind.MAP);
        assertThat(refused).hasMessageContaining("seen").hasMessageContaining("exists as");
        assertThat(maps.remove("seen")).isTrue();
        host.replace("s", Objects.example("slow_events"));
    }

    @Test
    void programsOfAnObjectShareTheirMaps() throws Exception {
        host.replace("slo", Objects.example("slo"));
        assertThat(host.active().orElseThrow().program(TUNER).orElseThrow().advisory())
                .isTrue();
        PolicyHost.Slot profiler = host.slot(ProgramType.PROFILER);
        assertThat(tune(1, 4)).isEqualTo(ProgramType.PASS);
        try (ProgramContext event = new ProgramContext(ProgramType.PROFILER)) {
            event.set(ProgramType.PROFILER.field("event_type"), 1 << 1);
            event.set(ProgramType.PROFILER.field("coll_type"), 4);
            event.set(ProgramType.PROFILER.field("n_bytes"), 1);
            event.set(ProgramType.PROFILER.field("duration_ns"), 5_000_000);
            for (int i = 0; i < 10; i++) {
                profiler.run(event);
            }
        }
        assertThat(tune(1, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(output("n_channels")).isEqualTo(16);
    }

    @Test
    void recordsComeToTheHost() throws Exception {
        host.replace("p", Objects.example("slow_events"));
        PolicyHost.Slot profiler = host.slot(ProgramType.PROFILER);
        try (ProgramContext event = new ProgramContext(ProgramType.PROFILER)) {
            event.set(ProgramType.PROFILER.field("comm_id"), 9);
            for (long nanos : new long[] {5, 20_000_000, 9_999_999, 30_000_000}) {
                event.set(ProgramType.PROFILER.field("duration_ns"), nanos);
                assertThat(profiler.run(event)).isZero();
            }
        }
        List<byte[]> records = new ArrayList<>();
        assertThat(((RingBuffer) maps.find("slow").orElseThrow()).poll(records::add, 100))
                .isEqualTo(2);
        ByteBuffer first = ByteBuffer.wrap(records.getFirst()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(first.getLong(0)).isEqualTo(9);
        assertThat(first.getLong(16)).isEqualTo(20_000_000);
        long seen = map("seen").getAll(u32(0)).stream()
                .mapToLong(value ->
                        ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong())
                .sum();
        assertThat(seen).isEqualTo(4);
    }

    @Test
    void aRunThatTakesTooLongIsStopped() throws Exception {
        VerifiedProgram program =
                loader.verify("p", Objects.example("table")).programs().getFirst();
        PolicyCode code = Compiler.compile(program, maps.bind(program.object().maps()), 5);
        assertThat(catchThrowableOfType(
                        BudgetExceededException.class, () -> code.run(context.address(), context.stackTop(), 0)))
                .isNotNull();
    }

    /** A rank's events come at moments of its own: what happens to their program must not change its tuner. */
    @Test
    void aProgramThatFailsIsSwitchedOffAlone() {
        host.activate(new Policy(
                "p",
                "0",
                List.of(
                        new Policy.Program("decide", TUNER, false, 1, (at, stackTop, shadow) -> ProgramType.APPLY),
                        new Policy.Program("observe", ProgramType.PROFILER, false, 1, (at, stackTop, shadow) -> {
                            throw new StackOverflowError();
                        }))));
        PolicyHost.Slot profiler = host.slot(ProgramType.PROFILER);
        try (ProgramContext event = new ProgramContext(ProgramType.PROFILER)) {
            for (int run = 0; run < 5; run++) {
                assertThat(profiler.run(event)).isEqualTo(ProgramType.PASS);
            }
        }
        assertThat(profiler.isFilled()).isFalse();
        assertThat(tuner.isFilled()).isTrue();
        assertThat(tune(1, 4)).isEqualTo(ProgramType.APPLY);
        assertThat(host.faults()).containsExactly(new PolicyHost.Faults(ProgramType.PROFILER, 3));
    }

    @Test
    void decidingAllocatesNothing() throws Exception {
        host.replace("p", Objects.example("ramp_up"));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 50_000; i++) {
            tuner.run(context);
        }
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 10; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                tuner.run(context);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isLessThan(10_000);
    }

    /**
     * Each decision is of one policy or the other, whole; once a thread saw the new one, it does not see the old again.
     */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void noDecisionIsLostOrTornByReplacing() throws Exception {
        byte[] steps = Objects.program("safe_size_aware_steps");
        byte[] sizes = Objects.program("safe_size_aware");
        host.replace("p", sizes);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong decisions = new AtomicLong();
        AtomicReference<String> wrong = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(Thread.ofPlatform().start(() -> decide(stop, decisions, wrong)));
        }
        for (int i = 0; i < 20; i++) {
            host.replace("p", i % 2 == 0 ? steps : sizes);
            assertThat(catchThrowableOfType(
                            PolicyException.class, () -> host.replace("p", Objects.program("unsafe_division"))))
                    .isNotNull();
            // what this thread starts after the switch is the new one's
            tune(2048, 4);
            assertThat(output("n_channels")).isEqualTo(i % 2 == 0 ? 1 : 0);
        }
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong.get()).isNull();
        assertThat(decisions.get()).isPositive();
        assertThat(host.faults()).isEmpty();
    }

    private void decide(AtomicBoolean stop, AtomicLong decisions, AtomicReference<String> wrong) {
        try (ProgramContext own = new ProgramContext(TUNER)) {
            own.set(TUNER.field("n_bytes"), 2048);
            while (!stop.get()) {
                own.set(TUNER.field("algorithm"), -1);
                own.set(TUNER.field("protocol"), -1);
                own.set(TUNER.field("n_channels"), 0);
                long result = tuner.run(own);
                String decision = result + " " + own.get(TUNER.field("algorithm")) + " "
                        + own.get(TUNER.field("protocol")) + " " + own.get(TUNER.field("n_channels"));
                if (!decision.equals("0 0 0 0") && !decision.equals("0 -1 -1 1")) {
                    wrong.set(decision);
                }
                decisions.incrementAndGet();
            }
        }
    }
}
