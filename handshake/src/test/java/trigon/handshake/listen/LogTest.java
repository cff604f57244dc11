package trigon.handshake.listen;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.handshake.HandshakeAssert.failureOf;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import trigon.handshake.Node;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.message.ConnectionId;
import trigon.system.RareMessage;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

class LogTest {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("trigon.handshake");
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };
    private final Node server = new Node("127.0.0.1", Node.LONG, 0x1111);
    private final ConnectionId connection = ConnectionId.random();

    @BeforeEach
    void listen() {
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.DEBUG);
    }

    @AfterEach
    void close() {
        server.close();
        logger.detachAppender(appender);
        logger.setLevel(null);
    }

    @Test
    void oneLineOnEachSideOfALink() throws Exception {
        establish(server, connection);

        assertThat(lines).hasSize(2);
        assertThat(lines)
                .anySatisfy(line -> assertThat(line)
                        .startsWith("DEBUG connected to /127.0.0.1:")
                        .contains(connection.toString())
                        .contains("RDMA")
                        .contains("own qp 0x")
                        .contains("peer qp 0x"));
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("DEBUG connected by node-127.0.0.1"));
    }

    @Test
    void differentSettingsAreAWarningOncePerPeer() throws Exception {
        try (Node other = new Node("127.0.0.2", Node.LONG, 0x2222)) {
            establish(other, connection);
            establish(other, ConnectionId.random());
        }

        assertThat(lines)
                .filteredOn(line -> line.startsWith("WARN"))
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .contains("node-127.0.0.1 (no node index, config 00001111)")
                        .contains("node-127.0.0.2 (no node index, config 00002222)")
                        .contains("different settings"));
    }

    @Test
    void aRejectionIsAWarningOnBothSides() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = server.connect(server.listeningAt(), server.offer(connection));
        listener.next().answer().completeExceptionally(new IllegalStateException("no queue pair left"));
        failureOf(outgoing.result());

        // each side logs on its own, before or after the other has heard
        Await.until("both warnings", () -> warnings("no queue pair left") >= 2);
        assertThat(warnings("no queue pair left")).isEqualTo(2);
    }

    @Test
    void strangersAreAWarningOnceInAWhile() throws Exception {
        for (int i = 0; i < 5; i++) {
            try (Socket http = new Socket(server.address(), server.listeningAt().getPort())) {
                http.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                http.setSoTimeout(60_000);
                Await.until("the server hangs up", () -> hungUp(http));
            }
        }

        assertThat(lines)
                .filteredOn(line -> line.startsWith("WARN"))
                .singleElement()
                .asString()
                .contains("47455420");
    }

    @Test
    void aLaterWarningCountsThoseLeftOut() {
        ManualClock clock = new ManualClock();
        RareMessage warning = new RareMessage(logger, org.slf4j.event.Level.WARN, clock);

        warning.log("one");
        warning.log("two");
        clock.advance(RareMessage.INTERVAL.minusNanos(1));
        warning.log("three");
        clock.advance(Duration.ofNanos(1));
        warning.log("four");

        assertThat(lines)
                .containsExactly("WARN one", "DEBUG two", "DEBUG three", "WARN four (2 more of this kind left out)");
    }

    private long warnings(String about) {
        return lines.stream()
                .filter(line -> line.startsWith("WARN") && line.contains(about))
                .count();
    }

    private void establish(Node from, ConnectionId which) throws Exception {
        Node.Listener listener = server.listen(which);
        OutgoingOffer outgoing = from.connect(server.listeningAt(), from.offer(which));
        listener.next().answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        outgoing.sendReady(1).get(60, TimeUnit.SECONDS);
    }

    private static boolean hungUp(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (IOException e) {
            return true;
        }
    }
}
