package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.entry.log.NcclLogger;
import trigon.software.device.SoftwareVerbs;
import trigon.transport.NetPlugin;
import trigon.verbs.LinkKind;

@Timeout(180)
class RehearsalTest {

    private static final int PAGE_BYTES = 4 << 10;

    // its logger is called only where the JVM is out of memory or stack
    private final CallFailures failures = new CallFailures(new NcclLogger(0));
    private final CannedPlugin canned = new CannedPlugin();
    private final AtomicInteger closed = new AtomicInteger();

    private final class CannedStage implements Rehearsal.Stage {
        @Override
        public NetPlugin plugin() {
            return canned;
        }

        @Override
        public List<Integer> lengths() {
            return List.of(64);
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    private Rehearsal rehearsal(NetPlugin ofProcess, Duration deadline) {
        return new Rehearsal(
                List.of(CannedStage::new),
                DataPathStubs.to(new DataPathCalls(ofProcess, failures), Arena.global()),
                failures,
                deadline);
    }

    @ParameterizedTest
    @EnumSource(LinkKind.class)
    void movesMessagesOnTheLoopbackDeviceAndLeavesNothingOpen(LinkKind kind) throws Exception {
        LoopbackStage stage = LoopbackStage.ofSoftware(kind, PAGE_BYTES);
        try (stage;
                Arena arena = Arena.ofConfined()) {
            int moved = rehearsal(stage.plugin(), Duration.ofSeconds(30)).play(stage, arena);

            int round = stage.lengths().size() * Rehearsal.MESSAGES;
            assertThat(moved).isBetween(round, Rehearsal.ROUNDS * round);
            assertThat(moved % round).isZero();
        }

        assertThat(stage.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void aMachineWithoutAStandInHasNoStageOnRdma() {
        try (SoftwareVerbs none = new SoftwareVerbs(List.of())) {
            assertThat(LoopbackStage.ofRdma(none, PAGE_BYTES)).isEmpty();
        }
    }

    @Test
    void closesTheStageWhenThePluginFails() {
        canned.failure = new IllegalStateException("told to fail");

        rehearsal(canned, Duration.ofSeconds(30)).run();

        assertThat(canned.contextsOpened).isEqualTo(1);
        assertThat(closed).hasValue(1);
    }

    @Test
    void givesUpWhereNothingComesAbout() {
        canned.answer = 0;

        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> rehearsal(canned, Duration.ofMillis(20)).play(new CannedStage(), arena))
                    .isInstanceOf(TimeoutException.class);
        }
    }

    @Test
    void goesOnWithTheNextWhereAStageIsMissing() {
        canned.failure = new IllegalStateException("told to fail");
        Supplier<Rehearsal.Stage> missing = () -> {
            throw new IllegalStateException("no loopback interface");
        };

        new Rehearsal(List.of(missing, CannedStage::new), new DataPathStubs(0, 0, 0), failures, Duration.ofSeconds(30))
                .run();

        assertThat(closed).hasValue(1);
    }
}
