package trigon.entry.warmup;

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
import trigon.entry.host.CallFailures;
import trigon.entry.log.NcclLogger;
import trigon.entry.net.CannedPlugin;
import trigon.entry.net.DataPathStubs;
import trigon.entry.net.DataPathUpcalls;
import trigon.nccl.NetPlugin;
import trigon.software.MoverSettings;
import trigon.software.device.SoftwareVerbs;
import trigon.verbs.LinkKind;

@Timeout(180)
class WarmUpTest {

    private static final int ROUNDS = 3;

    private static final int PAGE_BYTES = 4 << 10;

    // its logger is called only where the JVM is out of memory or stack
    private final CallFailures failures = new CallFailures(new NcclLogger(0));
    private final CannedPlugin canned = new CannedPlugin();
    private final AtomicInteger closed = new AtomicInteger();

    private final class CannedNode implements WarmUpNode {
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

    private WarmUp warmUp(NetPlugin ofProcess, Duration deadline) {
        return new WarmUp(
                List.of(CannedNode::new),
                DataPathStubs.to(new DataPathUpcalls(ofProcess, failures), Arena.global()),
                failures,
                ROUNDS,
                deadline);
    }

    @ParameterizedTest
    @EnumSource(LinkKind.class)
    void movesMessagesOnTheLoopbackDeviceAndLeavesNothingOpen(LinkKind kind) throws Exception {
        LoopbackNode node = LoopbackNode.ofSoftware(
                kind, MoverSettings.forProcessors(Runtime.getRuntime().availableProcessors()), PAGE_BYTES);
        try (node;
                Arena arena = Arena.ofConfined()) {
            int moved = warmUp(node.plugin(), Duration.ofSeconds(30)).moveMessages(node, arena);

            int round = node.lengths().size() * WarmUp.MESSAGES;
            assertThat(moved).isBetween(round, ROUNDS * round);
            assertThat(moved % round).isZero();
        }

        assertThat(node.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void aMachineWithoutAStandInHasNoNodeOnRdma() {
        try (SoftwareVerbs none = new SoftwareVerbs(List.of())) {
            assertThat(LoopbackNode.ofRdma(none, PAGE_BYTES)).isEmpty();
        }
    }

    @Test
    void closesTheNodeWhenThePluginFails() {
        canned.failure = new IllegalStateException("told to fail");

        warmUp(canned, Duration.ofSeconds(30)).run();

        assertThat(canned.contextsOpened).isEqualTo(1);
        assertThat(closed).hasValue(1);
    }

    @Test
    void givesUpWhereNothingComesAbout() {
        canned.answer = 0;

        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> warmUp(canned, Duration.ofMillis(20)).moveMessages(new CannedNode(), arena))
                    .isInstanceOf(TimeoutException.class);
        }
    }

    @Test
    void goesOnWithTheNextWhereANodeIsMissing() {
        canned.failure = new IllegalStateException("told to fail");
        Supplier<WarmUpNode> missing = () -> {
            throw new IllegalStateException("no loopback interface");
        };

        new WarmUp(
                        List.of(missing, CannedNode::new),
                        new DataPathStubs(0, 0, 0),
                        failures,
                        ROUNDS,
                        Duration.ofSeconds(30))
                .run();

        assertThat(closed).hasValue(1);
    }
}
