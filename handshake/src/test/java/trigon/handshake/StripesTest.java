package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.handshake.Node.Attempt;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.Stripe;

/** A connection of several queue pairs, each with a handshake of its own. */
@Timeout(180)
class StripesTest {

    private final ConnectionId connection = ConnectionId.random();
    private final Node server = new Node("127.0.41.1", Node.LONG);
    private final Node client = new Node("127.0.41.2", Node.LONG);
    private final Node.Listener listener = server.listen(connection);

    /** Both sides of one queue pair's handshake. */
    private record Both(OutgoingOffer outgoing, Attempt atServer) {

        void answer(Node server) throws Exception {
            atServer.answer().complete(server.answer());
            outgoing.answer().get(60, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private Both offer(Stripe stripe) throws InterruptedException {
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection, stripe));
        return new Both(outgoing, listener.next());
    }

    private List<Both> offerAll(long attempt, int count) throws Exception {
        List<Both> all = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            Both both = offer(new Stripe(attempt, index, count));
            both.answer(server);
            all.add(both);
        }
        return all;
    }

    @Test
    void allOfThemComeUpBesideEachOther() throws Exception {
        List<Both> all = offerAll(1, 3);

        for (Both both : all) {
            assertThat(both.outgoing.sendReady(3).get(60, TimeUnit.SECONDS).stripes())
                    .isEqualTo(3);
            assertThat(both.atServer
                            .incoming()
                            .result()
                            .get(60, TimeUnit.SECONDS)
                            .stripes())
                    .isEqualTo(3);
        }
        assertThat(all)
                .map(both -> both.atServer.incoming().offer().stripe().index())
                .containsExactly(0, 1, 2);
        OutgoingOffer late = client.connect(server.listeningAt(), client.offer(connection));
        assertThat(failureOf(late.answer())).hasMessageContaining("already established");
    }

    @Test
    void thoseThatAreLeftOutEndWhenTheOthersAreUp() throws Exception {
        List<Both> all = offerAll(1, 3);

        all.get(0).outgoing.sendReady(2).get(60, TimeUnit.SECONDS);
        assertThat(all.get(1).outgoing.result()).isNotDone();
        all.get(2).outgoing.sendReady(2).get(60, TimeUnit.SECONDS);

        assertThat(failureOf(all.get(1).atServer.incoming().result()))
                .returns(Kind.ABANDONED, HandshakeException::kind)
                .hasMessageContaining("connected without it");
        assertThat(failureOf(all.get(1).outgoing.result())).isNotNull();
    }

    @Test
    void aNewAttemptEndsWhatTheFormerHadUnderWayAndMayConnect() throws Exception {
        List<Both> former = offerAll(1, 2);
        former.get(0).outgoing.sendReady(2).get(60, TimeUnit.SECONDS);

        List<Both> latter = offerAll(2, 2);

        assertThat(failureOf(former.get(1).atServer.incoming().result())).hasMessageContaining("tries another path");
        for (Both both : latter) {
            both.outgoing.sendReady(2).get(60, TimeUnit.SECONDS);
            both.atServer.incoming().result().get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void aNumberThatCannotBeIsRefused() throws Exception {
        List<Both> all = offerAll(1, 2);

        assertThat(failureOf(all.get(0).outgoing.sendReady(3)))
                .hasMessageContaining("is said to have 3 queue pairs, of 2 that were offered");

        List<Both> others = offerAll(2, 3);
        others.get(0).outgoing.sendReady(3).get(60, TimeUnit.SECONDS);
        assertThat(failureOf(others.get(1).outgoing.sendReady(2))).hasMessageContaining("another number before");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 9", "-1, 2", "2, 2"})
    void whatIsNoStripeCannotBeMade(int index, int offered) {
        assertThatThrownBy(() -> new Stripe(1, index, offered)).isInstanceOf(IllegalArgumentException.class);
    }
}
