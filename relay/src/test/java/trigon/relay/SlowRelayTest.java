package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** A relay whose thread is without a processor for longer than it spins, again and again: between any two steps. */
@Timeout(300)
class SlowRelayTest {

    /** Twice as long as the relay polls what is quiet. */
    private static final long AWAY_NANOS = 200_000;

    private static final int LENGTH = 1 << 20;

    static Stream<List<String>> rdmaPorts() {
        return Stream.of(
                List.of(RelayedLine.A, RelayedLine.B_TO_A),
                List.of(RelayedLine.B_TO_C, RelayedLine.C),
                List.of(RelayedLine.A, RelayedLine.B_TO_A, RelayedLine.B_TO_C, RelayedLine.C));
    }

    @ParameterizedTest
    @MethodSource("rdmaPorts")
    void passesOnAllThatHasCome(List<String> rdmaPorts) {
        AtomicLong now = new AtomicLong();
        try (RelayedLine line = new RelayedLine(() -> now.addAndGet(AWAY_NANOS), rdmaPorts.toArray(String[]::new));
                ConnectedPair pair = ConnectedPair.open(line.fabric(), QueuePairSettings.DEFAULT.withTimeout(22));
                NativeBuffer from = new NativeBuffer(LENGTH).randomize(new Random(1));
                NativeBuffer to = new NativeBuffer(LENGTH)) {
            assertThat(pair.second()
                            .queuePair()
                            .postReceive(
                                    3,
                                    to.address(),
                                    to.length(),
                                    pair.second().register(to).localKey()))
                    .isZero();

            assertThat(pair.first()
                            .queuePair()
                            .postSendWithImmediate(
                                    9,
                                    from.address(),
                                    LENGTH,
                                    pair.first().register(from).localKey(),
                                    5,
                                    SendFlag.SIGNALED))
                    .isZero();

            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.bytes(0, LENGTH)).isEqualTo(from.bytes());
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }
}
