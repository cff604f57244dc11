package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OffersUnderWayTest {

    private final List<Runnable> executed = new ArrayList<>();
    private final OffersUnderWay offers = new OffersUnderWay(executed::add);
    private final List<CompletableFuture<Integer>> begun = new ArrayList<>();

    private CompletableFuture<Integer> begin() {
        return begin(true);
    }

    private CompletableFuture<Integer> begin(boolean isAwaited) {
        return offers.begin(isAwaited, () -> {
            CompletableFuture<Integer> offer = new CompletableFuture<>();
            begun.add(offer);
            return offer;
        });
    }

    @Test
    void soManyAreUnderWayAndOthersFollowInTheirOrder() {
        List<CompletableFuture<Integer>> results = new ArrayList<>();
        for (int i = 0; i < OffersUnderWay.MAX + 2; i++) {
            results.add(begin());
        }
        assertThat(begun).hasSize(OffersUnderWay.MAX);

        begun.get(3).complete(7);
        begun.get(4).completeExceptionally(new IllegalStateException("it did not come up"));
        assertThat(results.get(3)).isCompletedWithValue(7);
        assertThat(results.get(4)).isCompletedExceptionally();
        assertThat(begun).hasSize(OffersUnderWay.MAX);
        executed.forEach(Runnable::run);

        assertThat(begun).hasSize(OffersUnderWay.MAX + 2);
        begun.get(OffersUnderWay.MAX).complete(8);
        assertThat(results.get(OffersUnderWay.MAX)).isCompletedWithValue(8);
    }

    @Test
    void whatNcclWaitsForIsFirst() {
        for (int i = 0; i < OffersUnderWay.MAX; i++) {
            var _ = begin();
        }
        CompletableFuture<Integer> idle = begin(false);
        CompletableFuture<Integer> awaited = begin(true);

        begun.getFirst().complete(1);
        executed.removeFirst().run();
        begun.getLast().complete(2);
        assertThat(awaited).isCompletedWithValue(2);
        assertThat(idle).isNotDone();

        executed.removeFirst().run();
        begun.getLast().complete(3);
        assertThat(idle).isCompletedWithValue(3);
    }

    @Test
    void thereIsRoomAgain() {
        for (int i = 0; i < 3 * OffersUnderWay.MAX; i++) {
            CompletableFuture<Integer> result = begin();
            begun.getLast().complete(i);
            assertThat(result).isCompletedWithValue(i);
        }
        assertThat(executed).isEmpty();
    }
}
