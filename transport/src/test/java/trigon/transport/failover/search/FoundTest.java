package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import trigon.routing.Bandwidth;
import trigon.routing.Path;
import trigon.routing.Reason;
import trigon.transport.testsupport.TestPaths;

class FoundTest {

    private static final Path IN_USE = TestPaths.cable(1);
    private static final Path OTHER = TestPaths.cable(2);
    private static final Path LINK_LOCAL = TestPaths.over(3, "fe80::1/64", "fe80::2/64", new Reason.LinkLocal(0));

    private final Map<Path, Answer> answers = new LinkedHashMap<>();

    @Test
    void thePeerIsGoneWhereItWasAndIsNotAnyMore() {
        answers.put(IN_USE, Answer.REFUSED);

        assertThat(found(Set.of(IN_USE)::contains).isGone()).isTrue();
    }

    @Test
    void aRefusalWhereThePeerNeverWasSaysNothing() {
        answers.put(IN_USE, Answer.NO_PATH);
        answers.put(OTHER, Answer.REFUSED);

        assertThat(found(Set.of(IN_USE)::contains).isGone()).isFalse();
    }

    @Test
    void aPeerThatIsSilentOnOnePathMayBeStopped() {
        answers.put(IN_USE, Answer.SILENT);
        answers.put(OTHER, Answer.REFUSED);

        assertThat(found(_ -> true).isGone()).isFalse();
    }

    @Test
    void aPeerIsStoppedIfOnlyItsKernelAnswersWhereItHasBeen() {
        answers.put(IN_USE, Answer.STOPPED);
        answers.put(OTHER, Answer.REFUSED);

        assertThat(found(_ -> true)).isEqualTo(new Found(List.of(), false, true));
        assertThat(found(Set.of(OTHER)::contains).isStopped()).isFalse();
        answers.put(OTHER, Answer.ALIVE);
        assertThat(found(_ -> true).isStopped()).isFalse();
    }

    @Test
    void aPathThatLeadsNowhereIsNoSilentPeer() {
        answers.put(IN_USE, Answer.REFUSED);
        answers.put(OTHER, Answer.NO_PATH);
        answers.put(LINK_LOCAL, Answer.SILENT);

        assertThat(found(Set.of(IN_USE)::contains).isGone()).isTrue();
        assertThat(found(Set.of(IN_USE, LINK_LOCAL)::contains).isGone()).isFalse();
    }

    @Test
    void aRelaysRefusalIsNoWordOfThePeers() {
        answers.put(IN_USE, Answer.NO_CIRCUIT);
        assertThat(found(_ -> true).isGone()).isFalse();

        answers.put(OTHER, Answer.REFUSED);
        assertThat(found(_ -> true).isGone()).as("behind the relay").isFalse();
        assertThat(found(Set.of(OTHER)::contains).isGone()).as("never there").isTrue();
    }

    @Test
    void aPeerThatLivesIsNotGone() {
        answers.put(IN_USE, Answer.REFUSED);
        answers.put(OTHER, Answer.ALIVE);

        assertThat(found(_ -> true)).isEqualTo(new Found(List.of(OTHER), false, false));
    }

    @Test
    void aReluctantPathIsTakenWhereNoOtherAnswers() {
        answers.put(IN_USE, Answer.SILENT);
        answers.put(OTHER, Answer.ALIVE);

        assertThat(found(_ -> true)
                        .leastPenalized(path -> path.equals(IN_USE) ? PathPenalty.NONE : PathPenalty.HAS_FAILED)
                        .alive())
                .containsExactly(OTHER);
    }

    @Test
    void aWayThroughRelaysIsTakenAlone() {
        Path relayed = TestPaths.over(
                1, "10.0.1.1/24", "10.0.7.2/24", new Reason.Relayed(List.of("c"), Bandwidth.NOT_TOLD, 0));

        assertThat(new Found(List.of(relayed, IN_USE), false, false).forQueuePairs(2))
                .containsExactly(relayed);
        assertThat(new Found(List.of(IN_USE, relayed), false, false).forQueuePairs(2))
                .containsExactly(IN_USE, IN_USE);
        assertThat(new Found(List.of(IN_USE, relayed, OTHER), false, false).forQueuePairs(2))
                .containsExactlyInAnyOrder(IN_USE, OTHER);
    }

    private Found found(Predicate<Path> isProven) {
        return Found.by(answers, isProven);
    }
}
