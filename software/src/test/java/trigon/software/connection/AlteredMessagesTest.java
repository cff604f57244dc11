package trigon.software.connection;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import trigon.software.SoftwareDevice;
import trigon.system.RareMessage;
import trigon.testsupport.ManualClock;

/** A relay that alters many messages does not fill the log, and does not hide another that does so, too. */
class AlteredMessagesTest {

    private static final InetAddress SENDER = InetAddress.ofLiteral("10.0.1.1");
    private static final InetAddress RELAY = InetAddress.ofLiteral("10.0.12.9");
    private static final InetAddress OTHER_RELAY = InetAddress.ofLiteral("10.0.12.8");
    private static final SoftwareDevice DEVICE =
            new SoftwareDevice("soft_b", InetAddress.ofLiteral("10.0.12.2"), 24, 25_000, 1);

    private final Logger logger = (Logger) LoggerFactory.getLogger(AlteredMessages.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final ManualClock clock = new ManualClock();
    private final AlteredMessages altered = new AlteredMessages(clock);

    @BeforeEach
    void capture() {
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void release() {
        logger.detachAppender(lines);
    }

    private List<String> warnings() {
        return lines.list.stream()
                .filter(line -> line.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void saysWhatFailedWhereAndWhatToDo() {
        altered.warn(DEVICE, SENDER, RELAY, "payload");

        assertThat(warnings())
                .containsExactly("soft_b (10.0.12.2/24): a message from 10.0.1.1 was altered on its way through"
                        + " relays: its payload does not match its checksum. NCCL does not get it. This path is"
                        + " closed; the link is up. Check the memory of the relay at 10.0.12.9, or of one before it;"
                        + " set TRIGON_RELAY=off on the faulty one");
    }

    @Test
    void warnsOfEachLastRelaySeldom() {
        altered.warn(DEVICE, SENDER, RELAY, "payload");
        altered.warn(DEVICE, SENDER, RELAY, "header");
        assertThat(warnings()).hasSize(1);

        altered.warn(DEVICE, SENDER, OTHER_RELAY, "payload");
        assertThat(warnings()).hasSize(2).last().asString().contains("the relay at 10.0.12.8");

        clock.advance(RareMessage.INTERVAL);
        altered.warn(DEVICE, SENDER, RELAY, "header");
        assertThat(warnings()).hasSize(3).last().asString().endsWith("(1 more of this kind left out)");
    }
}
