package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import trigon.handshake.connect.Question;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;

class SharedQuestionsTest {

    private static final SharedQuestions.AskedPath WAY = new SharedQuestions.AskedPath(
            InetAddress.ofLiteral("10.0.0.1"),
            new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), 4711),
            SharedQuestions.Manner.SOON);

    private final AtomicLong now = new AtomicLong();
    private final SharedQuestions questions = new SharedQuestions(now::get);
    private final List<Asked> asked = new ArrayList<>();

    private record Asked(CompletableFuture<Void> answered) implements Question {
        @Override
        public boolean isConnected() {
            return true;
        }
    }

    private Question ask() {
        return questions.ask(WAY, () -> {
            Asked question = new Asked(new CompletableFuture<>());
            asked.add(question);
            return question;
        });
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void oneIsAskedForAllThatAskAtTheSameTime() {
        Question one = ask();
        Question other = ask();
        asked.getFirst().answered.complete(null);

        assertThat(asked).hasSize(1);
        assertThat(one.answered()).isCompleted();
        assertThat(other.answered()).isCompleted();
        assertThat(other.isConnected()).isTrue();
    }

    @Test
    void anAnswerIsGoodForAMomentAndSilenceForTheTimeOfAQuestion() {
        ask();
        asked.getFirst().answered.complete(null);
        ask();
        assertThat(asked).hasSize(1);
        pass(SharedQuestions.FRESH);
        ask();
        assertThat(asked).hasSize(2);
        pass(SharedQuestions.FRESH);
        ask();
        assertThat(asked).hasSize(2);
        pass(AskingRound.LONGEST);
        ask();
        assertThat(asked).hasSize(3);
    }

    @Test
    void whatIsSaidOfTheWayHoldsForAllAndWhatIsSaidOfOneConnectionForNoOther() {
        Question one = ask();
        Question other = ask();
        asked.getFirst().answered.completeExceptionally(new HandshakeException(Kind.REFUSED, "nobody listens"));
        assertThat(one.answered()).isCompletedExceptionally();
        assertThat(other.answered().exceptionNow()).hasMessage("nobody listens");
        assertThat(asked).hasSize(1);

        pass(SharedQuestions.FRESH);
        ask();
        Question third = ask();
        asked.get(1).answered.completeExceptionally(new HandshakeException(Kind.REJECTED, "unknown"));
        assertThat(asked).hasSize(3);
        assertThat(third.answered()).isNotDone();
        asked.get(2).answered.complete(null);
        assertThat(third.answered()).isCompleted();
    }
}
