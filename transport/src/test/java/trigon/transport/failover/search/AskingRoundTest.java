package trigon.transport.failover.search;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

class AskingRoundTest {

    private final List<Path> paths = List.of(path(1), path(2), path(3));
    private final Map<Path, CompletableFuture<Void>> asked = new LinkedHashMap<>();
    private final List<CompletableFuture<Void>> timers = new ArrayList<>();
    private final List<Duration> times = new ArrayList<>();
    private final CompletableFuture<Void> stop = new CompletableFuture<>();

    @Test
    void theNextPathIsAskedAfterAHeadStart() {
        CompletableFuture<?> round = begin(false);

        assertThat(asked).containsOnlyKeys(paths.getFirst());
        letTimePass();
        assertThat(asked).containsOnlyKeys(paths.get(0), paths.get(1));
        answer(1).complete(null);

        assertThat(asked).hasSize(2);
        assertThat(round).isCompleted();
        assertThat(times).containsExactly(AskingRound.HEAD_START, AskingRound.HEAD_START, AskingRound.LONGEST);
    }

    @Test
    void aRefusalEndsNoHeadStart() {
        CompletableFuture<?> round = begin(false);

        answer(0).completeExceptionally(new IllegalStateException("refused"));

        assertThat(asked).hasSize(1);
        assertThat(round).isNotDone();
    }

    @Test
    void itIsOverWhenAllHaveAnswered() {
        CompletableFuture<?> round = begin(false);
        letTimePass();
        letTimePass();
        letTimePass();
        assertThat(asked).hasSize(3);
        assertThat(round).isNotDone();

        asked.values().forEach(answer -> answer.completeExceptionally(new IllegalStateException("refused")));

        assertThat(round).isCompleted();
    }

    @Test
    void itIsOverWhenItsTimeIs() {
        CompletableFuture<?> round = begin(false);

        for (int i = 0; i < 4; i++) {
            assertThat(round).isNotDone();
            letTimePass();
        }

        assertThat(round).isCompleted();
    }

    @Test
    void whereAllAreAskedTheOthersGetAMomentMore() {
        CompletableFuture<?> round = begin(true);
        assertThat(asked).hasSize(3);

        answer(2).complete(null);
        assertThat(round).isNotDone();
        letTimePass();

        assertThat(round).isCompleted();
    }

    @Test
    void theEndOfTheConnectionEndsIt() {
        CompletableFuture<?> round = begin(false);

        stop.complete(null);

        assertThat(asked).hasSize(1);
        assertThat(round).isCompleted();
    }

    private CompletableFuture<?> begin(boolean all) {
        return new AskingRound(paths, all, this::ask, this::timer, stop).begin();
    }

    private CompletableFuture<Void> ask(Path path) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        asked.put(path, answer);
        return answer;
    }

    private CompletableFuture<Void> answer(int path) {
        return requireNonNull(asked.get(paths.get(path)));
    }

    private CompletableFuture<Void> timer(Duration time) {
        CompletableFuture<Void> timer = new CompletableFuture<>();
        timers.add(timer);
        times.add(time);
        return timer;
    }

    /** What was waited for until now is over. */
    private void letTimePass() {
        List.copyOf(timers).forEach(timer -> timer.complete(null));
    }

    private static Path path(int number) {
        InterfaceAddress own = InterfaceAddress.parse("10.0.%d.1/24".formatted(number));
        InterfaceAddress its = InterfaceAddress.parse("10.0.%d.2/24".formatted(number));
        Gid gid = Gid.of(own.address());
        LocalLink link = new LocalLink("l" + number, LinkKind.SOFTWARE, "l", 1, own, 0, gid, 10_000, "eth", 1, 0);
        PeerLink remote = new PeerLink(its.address(), its.prefixLength(), 4711, Set.of(LinkKind.SOFTWARE));
        return new Path("b", link, remote, LinkKind.SOFTWARE, new Reason.SameSubnet(24));
    }
}
