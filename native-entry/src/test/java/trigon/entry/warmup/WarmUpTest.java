package trigon.entry.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.entry.net.CannedPlugin;
import trigon.nccl.NetPlugin;
import trigon.software.MoverSettings;
import trigon.software.device.SoftwareVerbs;
import trigon.transport.request.LaneFunctions;
import trigon.transport.request.RequestTable;
import trigon.verbs.LinkKind;

@Timeout(180)
class WarmUpTest {

    private static final int PAGE_BYTES = 4 << 10;

    private static final RequestTable REQUESTS = RequestTable.unseen(LaneFunctions.at(
            SymbolLookup.libraryLookup(Path.of(System.getProperty("trigon.lane.library", "")), Arena.global())
                    .findOrThrow("lane_functions")
                    .address()));

    private final CannedPlugin canned = new CannedPlugin();
    private final AtomicInteger closed = new AtomicInteger();

    private final class CannedNode implements WarmUpNode {
        @Override
        public NetPlugin plugin() {
            return canned;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    private static WarmUp warmUp(Supplier<WarmUpNode> node, Duration deadline) {
        return new WarmUp(List.of(node), deadline);
    }

    @ParameterizedTest
    @EnumSource(LinkKind.class)
    void movesMessagesOnTheLoopbackDeviceAndLeavesNothingOpen(LinkKind kind) throws Exception {
        LoopbackNode node = LoopbackNode.ofSoftware(
                kind, MoverSettings.forProcessors(Runtime.getRuntime().availableProcessors()), REQUESTS, PAGE_BYTES);
        try (node;
                Arena arena = Arena.ofConfined()) {
            int moved = warmUp(() -> node, Duration.ofSeconds(30)).moveMessages(node, arena);

            assertThat(moved).isEqualTo(WarmUp.MESSAGES);
        }

        assertThat(node.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void aMachineWithoutAStandInHasNoNodeOnRdma() {
        try (SoftwareVerbs none = new SoftwareVerbs(List.of())) {
            assertThat(LoopbackNode.ofRdma(none, REQUESTS, PAGE_BYTES)).isEmpty();
        }
    }

    @Test
    void closesTheNodeWhenThePluginFails() {
        canned.failure = new IllegalStateException("told to fail");

        warmUp(CannedNode::new, Duration.ofSeconds(30)).run();

        assertThat(canned.contextsOpened).isEqualTo(1);
        assertThat(closed).hasValue(1);
    }

    @Test
    void givesUpWhereNothingComesAbout() {
        canned.answer = 0;

        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(
                            () -> warmUp(CannedNode::new, Duration.ofMillis(20)).moveMessages(new CannedNode(), arena))
                    .isInstanceOf(TimeoutException.class);
        }
    }

    @Test
    void goesOnWithTheNextWhereANodeIsMissing() {
        canned.failure = new IllegalStateException("told to fail");
        Supplier<WarmUpNode> missing = () -> {
            throw new IllegalStateException("no loopback interface");
        };

        new WarmUp(List.of(missing, CannedNode::new), Duration.ofSeconds(30)).run();

        assertThat(closed).hasValue(1);
    }
}
