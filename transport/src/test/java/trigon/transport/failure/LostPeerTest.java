package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.outcome;
import static trigon.transport.testsupport.Connected.retry;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import trigon.nccl.NcclResult;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.connect.PathFactory;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** What NCCL and the log are told when one end of a connection is unusable: the other end hears of it, and why. */
@Timeout(180)
class LostPeerTest {

    private static final int TAG = 3;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();
    private static final String FLUSHED = "WR_FLUSHED";

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("trigon.transport");
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };

    private TestCluster cluster;
    private TestNode a;
    private TestNode b;
    private Connected ab;
    private long from;
    private long to;
    private long fromHandle;
    private long toHandle;

    @BeforeEach
    void connect(@TempDir Path directory) {
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.INFO);
        cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """).withPassingTime();
        a = cluster.open("a");
        b = cluster.open("b");
        ab = new Connected(a, b);
        from = a.allocate(4096);
        to = b.allocate(4096);
        fromHandle = a.register(ab.sendComm, from, 4096);
        toHandle = b.register(ab.receiveComm, to, 4096);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        logger.detachAppender(appender);
        logger.setLevel(null);
        assertThat(a.verbs().ledger().outstanding()).isEmpty();
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void aReceiverWhosePeerLetsGoSaysSoAndNotThatSomethingWasFlushed() {
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));

        a.plugin.closeSend(ab.sendComm);

        assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
        assertThat(warnings())
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .contains("receiver on lo 127.1.12.2/24 (TCP), peer a at 127.1.12.1: ")
                        .contains("lost a at 127.1.12.1: the peer has closed its end"));
    }

    @Test
    void aSenderWhosePeerLetsGoSaysSo() {
        b.plugin.closeReceive(ab.receiveComm);

        assertThat(ab.sendUntilItFails(from, 8, TAG, fromHandle)).isEqualTo(REMOTE_ERROR);

        assertThat(warnings())
                .anySatisfy(
                        line -> assertThat(line).contains("sender on lo 127.1.12.1/24 (TCP), peer b at 127.1.12.2"));
        untilAWarning("sender on", "lost b at 127.1.12.2: the peer has closed its end");
    }

    @Test
    void anEndThatFailsTellsTheOtherThoughNcclDoesNotCloseIt() {
        long first = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        long second = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        long mismatch = retry(() -> a.plugin.isend(ab.sendComm, from, 16, TAG, fromHandle));

        assertThat(finish(b, first)).isEqualTo(-NcclResult.INVALID_USAGE.code());
        assertThat(finish(b, second)).isEqualTo(-NcclResult.INVALID_USAGE.code());
        // it was done when its memory could be used again
        assertThat(finish(a, mismatch)).isEqualTo(16);
        assertThat(ab.sendUntilItFails(from, 8, TAG, fromHandle)).isEqualTo(REMOTE_ERROR);
        untilAWarning("sender on", "the peer's end failed", "LOCAL_LENGTH_ERROR");
    }

    @Test
    void memoryThatIsDeregisteredUnderWayFailsBothEndsAndNothingIsTakenForDone() {
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        b.plugin.deregisterMemory(ab.receiveComm, toHandle);

        long send = retry(() -> a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle));

        assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
        assertThat(finish(a, send)).isEqualTo(8);
        assertThat(ab.sendUntilItFails(from, 8, TAG, fromHandle)).isEqualTo(REMOTE_ERROR);
        assertThat(warnings())
                .anySatisfy(line -> assertThat(line).contains("receiver on", "LOCAL_PROTECTION_ERROR"))
                .anySatisfy(line -> assertThat(line).contains("sender on"));
        // the sender's queue pair may know before its lifeline does: then a second line says what it was
        untilAWarning("sender on", "the peer's end failed: ", "LOCAL_PROTECTION_ERROR");
    }

    @Test
    void whatWasSentArrivesLongAfterItsSenderHasLetGo() throws Exception {
        int size = 4096;
        for (int i = 0; i < size; i++) {
            Memory.putByte(from + i, (byte) i);
        }
        for (int i = 0; i < 3; i++) {
            long send = retry(() -> a.plugin.isend(ab.sendComm, from, size, TAG, fromHandle));
            assertThat(finish(a, send)).isEqualTo(size);
        }
        a.plugin.closeSend(ab.sendComm);
        a.close();
        b.pass(PathFactory.GRACE.multipliedBy(3));

        for (int i = 0; i < 3; i++) {
            Memory.fill(to, size, (byte) 0);
            long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, size, TAG, toHandle));
            assertThat(finish(b, receive)).isEqualTo(size);
            for (int at = 0; at < size; at++) {
                assertThat(Memory.getByte(to + at)).isEqualTo((byte) at);
            }
        }
        assertThat(outcome(b, () -> b.plugin.irecv(ab.receiveComm, to, size, TAG, toHandle)))
                .isEqualTo(REMOTE_ERROR);
        untilAWarning("receiver on", "lost a at 127.1.12.1: the peer has closed its end");
        a = cluster.open("a");
    }

    @Test
    void whatWasDoneBeforeTheFailureStaysDone() throws Exception {
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        long next = retry(() -> b.plugin.irecv(ab.receiveComm, to + 8, 8, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(8);
        assertThat(finish(b, receive)).isEqualTo(8);

        a.plugin.closeSend(ab.sendComm);

        assertThat(finish(b, next)).isEqualTo(REMOTE_ERROR);
        // an answer once given is not given again, as nothing and as no error
        assertThat(b.plugin.test(receive)).isEqualTo(-NcclResult.INVALID_ARGUMENT.code());
        assertThat(warnings()).noneSatisfy(line -> assertThat(line).contains("request 0x0 "));
    }

    @Test
    void aNodeThatIsClosedAndOpenedAgainIsConnectedAnew() {
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        a.close();
        assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
        b.plugin.closeReceive(ab.receiveComm);

        a = cluster.open("a");
        Connected anew = Connected.anew(a, b);
        long newFrom = a.allocate(8);
        long newFromHandle = a.register(anew.sendComm, newFrom, 8);
        long newToHandle = b.register(anew.receiveComm, to, 8);
        long second = retry(() -> b.plugin.irecv(anew.receiveComm, to, 8, TAG, newToHandle));
        long send = retry(() -> a.plugin.isend(anew.sendComm, newFrom, 8, TAG, newFromHandle));
        assertThat(finish(a, send)).isEqualTo(8);
        assertThat(finish(b, second)).isEqualTo(8);
    }

    @Test
    void aConnectionThatIsClosedInOrderWarnsOfNothing() throws Exception {
        a.plugin.closeSend(ab.sendComm);
        Await.until("the end of a's end", () -> {
            b.letTimePass();
            return lines.stream().anyMatch(line -> line.contains("the peer has closed its end"));
        });
        b.plugin.closeReceive(ab.receiveComm);

        assertThat(warnings()).isEmpty();
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith("INFO").contains("the peer has closed its end"));
        assertThat(lines).noneSatisfy(line -> assertThat(line).contains(FLUSHED));
    }

    private void untilAWarning(String... parts) {
        Await.until(() -> "the line that says why, after " + warnings(), Await.DEADLINE, () -> {
            b.letTimePass();
            return warnings().stream().anyMatch(line -> Arrays.stream(parts).allMatch(line::contains));
        });
    }

    private List<String> warnings() {
        return lines.stream().filter(line -> line.startsWith("WARN")).toList();
    }
}
