package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.handshake.HandshakeAssert.failureOf;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.testsupport.Await;

/** What a node hears that asks for a connection which the other one has closed. */
@Timeout(180)
class EndedConnectionTest {

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", Node.LONG);
    private final ConnectionId connection = ConnectionId.random();

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    /** Its peer may ask before it hears of the end, as it does when a communicator is closed. */
    @Test
    void aConnectionThatHasEndedIsRefusedWithoutAWarning() throws Exception {
        server.listen(connection);
        server.listeners().unregister(connection);
        CapturedLog log = new CapturedLog();
        log.start();
        try {
            OutgoingOffer ofTheEnded = client.connect(server.listeningAt(), client.offer(connection));
            assertThat(failureOf(ofTheEnded.answer())).returns(Kind.REJECTED, HandshakeException::kind);
            ConnectionId unknown = ConnectionId.random();
            OutgoingOffer ofTheUnknown = client.connect(server.listeningAt(), client.offer(unknown));
            assertThat(failureOf(ofTheUnknown.answer())).returns(Kind.REJECTED, HandshakeException::kind);

            String byTheListener = " at " + server.address().getHostAddress();
            Await.until("its warning of the unknown one", () -> log.has("WARN", unknown, byTheListener));
            assertThat(log.has("WARN", connection, byTheListener)).isFalse();
            assertThat(log.has("DEBUG", connection, byTheListener)).isTrue();
        } finally {
            log.stop();
        }
    }
}
