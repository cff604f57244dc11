package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.software.device.Pairs.receive;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.MoverSettings;
import trigon.software.call.Word;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.TcpSockets;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Connections that end while no request fails by it: whatever was on its way is lost, and nobody would ever know. */
@Timeout(120)
class BrokenConnectionTest {

    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private final SoftwareVerbs one = Loopback.provider();
    private final SoftwareVerbs other = Loopback.provider();

    @AfterEach
    void nothingIsLeftOpen() {
        LedgerAssert.assertNothingOpen(one);
        LedgerAssert.assertNothingOpen(other);
        one.close();
        other.close();
    }

    @Test
    void bothDevicesReportThatAConnectionIsBroken() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            Pairs.exchange(pair, 1000);
            int port = pair.second().context().queryPort(1).lid();
            assertThat(pair.first().context().pollAsyncEvent()).isEmpty();

            TcpSockets.shutDown(TcpSockets.connectedTo(port).getFirst());

            for (VerbsEnd end : List.of(pair.first(), pair.second())) {
                assertThat(reported(end))
                        .isEqualTo(new AsyncEvent.OfQueuePair(AsyncEventType.CONNECTION_BROKEN, end.queuePair()));
                assertThat(end.queuePair().queryState()).isEqualTo(QueuePairStateCode.READY_TO_SEND);
                assertThat(end.context().pollAsyncEvent()).as("once").isEmpty();
            }
        }
    }

    /** Its end has never sent anything, so nothing can be lost. */
    @Test
    void aConnectionThatCarriesNothingMayEnd() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            Pairs.exchange(pair, 1000);
            QueuePairEngine idle = ((SoftwareQueuePair) pair.second().queuePair()).engine();
            int port = pair.first().context().queryPort(1).lid();

            TcpSockets.shutDown(TcpSockets.connectedTo(port).getFirst());

            Await.until("it is noticed", () -> idle.inC().has(Word.LOST));
            assertThat(idle.isSilentlyBroken()).isFalse();
            Pairs.exchange(pair, 1000);
            assertThat(((SoftwareQueuePair) pair.first().queuePair()).engine().isSilentlyBroken())
                    .isFalse();
        }
    }

    /** A device cannot tell why, but whoever uses it can. */
    @Test
    void aPeerThatIsClosedIsReportedToo() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            Pairs.exchange(pair, 1000);

            pair.first().queuePair().close();

            assertThat(reported(pair.second()).type()).isEqualTo(AsyncEventType.CONNECTION_BROKEN);
            assertThat(pair.first().context().pollAsyncEvent()).isEmpty();
        }
    }

    @Test
    void whatARequestHasToldIsNotReportedAgain() {
        try (ConnectedPair pair = Pairs.open(one, other);
                NativeBuffer from = new NativeBuffer(1)) {
            Pairs.exchange(pair, 1000);
            MemoryRegion local = pair.first().register(from);
            pair.second().queuePair().close();

            Await.until("sending fails", () -> {
                pair.first().queuePair().postSend(9, from.address(), 1, local.localKey(), INJECTED);
                return pair.first().nextSend().status() == WorkCompletionStatus.RETRY_EXCEEDED;
            });

            QueuePairEngine failed = ((SoftwareQueuePair) pair.first().queuePair()).engine();
            // whoever has told of the completion enters the state then
            Await.until("the queue pair is in the error state", () -> failed.state() == QueuePairStateCode.ERROR);
            assertThat(failed.isSilentlyBroken()).isFalse();
        }
    }

    @Test
    void aQueuePairThatIsResetHasNothingToReport() {
        try (ConnectedPair pair = Pairs.open(one, other)) {
            Pairs.exchange(pair, 1000);
            QueuePairEngine queuePair = ((SoftwareQueuePair) pair.first().queuePair()).engine();
            pair.second().queuePair().close();
            Await.until("it is noticed", queuePair::isSilentlyBroken);

            queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.RESET).build());

            assertThat(queuePair.isSilentlyBroken()).isFalse();
        }
    }

    /** The kernel refuses to read it, and the socket is well. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSendFromMemoryThatWasUnmappedFailsAndItsPeerKnows(boolean movers, @TempDir Path directory)
            throws IOException {
        int length = 1 << 20;
        SoftwareVerbs sender = movers ? one : new SoftwareVerbs(List.of(Loopback.A), MoverSettings.NONE);
        try (ConnectedPair pair = Pairs.open(sender, other);
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion target = pair.second().register(to);
            MemoryRegion source;
            long address;
            try (Arena mapping = Arena.ofConfined();
                    FileChannel file = FileChannel.open(
                            directory.resolve("memory"),
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE)) {
                // the lower end of a large hole: what is mapped next takes the upper one
                address = file.map(FileChannel.MapMode.READ_WRITE, 0, 64L * length, mapping)
                        .address();
                source = pair.first().protectionDomain().registerMemory(address, length, VerbsEnd.ALL_ACCESS);
            }
            receive(pair, 1, to, target, 0, length);

            assertThat(pair.first().queuePair().postSend(1, address, length, source.localKey(), INJECTED))
                    .isZero();

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
            // a mover enters the state once it has told of the completion
            Await.until(
                    "the queue pair is in the error state",
                    () -> pair.first().queuePair().queryState() == QueuePairStateCode.ERROR);
            assertThat(reported(pair.second()).type()).isEqualTo(AsyncEventType.CONNECTION_BROKEN);
            source.close();
        }
        if (sender != one) {
            LedgerAssert.assertNothingOpen(sender);
            sender.close();
        }
    }

    private static AsyncEvent reported(VerbsEnd end) {
        AsyncEvent[] event = new AsyncEvent[1];
        Await.until("an event of " + end.context().deviceName(), () -> {
            Optional<AsyncEvent> next = end.context().pollAsyncEvent();
            next.ifPresent(happened -> event[0] = happened);
            return next.isPresent();
        });
        return event[0];
    }
}
