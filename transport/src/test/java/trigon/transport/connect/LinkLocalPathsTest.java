package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.routing.Path;
import trigon.routing.Reason;
import trigon.transport.testsupport.TestPaths;

@Timeout(300)
class LinkLocalPathsTest {

    private final Path right = path(1, 1);
    private final Path wrong = path(1, 2);
    private final Path otherCable = path(2, 2);

    private final Map<Path, CompletableFuture<Void>> answers = new LinkedHashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final Map<Path, RuntimeException> silent = new LinkedHashMap<>();

    private final LinkLocalPaths paths = new LinkLocalPaths((path, remote) -> {
        asked.add(path.local().name() + " " + remote);
        return answers.getOrDefault(path, new CompletableFuture<>());
    });

    @Test
    void allAreAskedAtOnceAndThoseThatAnswerAreTakenInTheirOrder() {
        answers.put(right, CompletableFuture.completedFuture(null));
        answers.put(otherCable, CompletableFuture.completedFuture(null));

        assertThat(paths.answering(List.of(wrong, right, otherCable), silent::put))
                .containsExactly(right, otherCable);
        assertThat(asked)
                .containsExactly(
                        "soft_1 " + new InetSocketAddress(wrong.remote().address(), 4711),
                        "soft_1 " + new InetSocketAddress(right.remote().address(), 4711),
                        "soft_2 " + new InetSocketAddress(otherCable.remote().address(), 4711));
        assertThat(silent).containsOnlyKeys(wrong);
        assertThat(silent.get(wrong)).isInstanceOf(LinkLocalPaths.NoAnswerException.class);
    }

    @Test
    void aQuestionThatIsUnderWayIsNotAskedTwiceAndItsAnswerCountsLater() {
        CompletableFuture<Void> late = new CompletableFuture<>();
        answers.put(right, late);
        assertThat(paths.answering(List.of(right), silent::put)).isEmpty();

        late.complete(null);
        assertThat(paths.answering(List.of(right), silent::put)).containsExactly(right);
        assertThat(asked).hasSize(1);

        assertThat(paths.answering(List.of(right), silent::put)).containsExactly(right);
        assertThat(asked).as("a new question after an answer").hasSize(2);
    }

    @Test
    void whatSpeaksAgainstAPathIsTold() {
        RuntimeException refused = new IllegalStateException("refused");
        answers.put(wrong, CompletableFuture.failedFuture(refused));

        assertThat(paths.answering(List.of(wrong), silent::put)).isEmpty();
        assertThat(silent).containsEntry(wrong, refused);
    }

    @Test
    void whereOnlyTheWrongCableIsLeftABusyPeerHasMoreTime() {
        Path shared = path(1, 1, 24);
        answers.put(shared, new CompletableFuture<Void>().completeOnTimeout(null, 1500, TimeUnit.MILLISECONDS));

        assertThat(paths.answering(List.of(shared), silent::put)).containsExactly(shared);
    }

    private static Path path(int here, int there) {
        return path(here, there, 0);
    }

    private static Path path(int here, int there, int inPlaceOf) {
        return TestPaths.over(
                here, "fe80::a%d/64".formatted(here), "fe80::b%d/64".formatted(there), new Reason.LinkLocal(inPlaceOf));
    }
}
