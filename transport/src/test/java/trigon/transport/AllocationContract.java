package trigon.transport;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NetPlugin;
import trigon.testsupport.AllocationAssert;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.request.RequestRow;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** The data path's calls allocate nothing on the thread that makes them. A subclass says over what links. */
@Timeout(180)
public abstract class AllocationContract {

    private static final int SHORT_BYTES = 64;
    private static final int LONG_BYTES = 2 * MessageProtocol.MIN_DIVIDED_BYTES;
    private static final int AT_ONCE = 8;
    private static final int TAG = 3;

    private final long[] sends = new long[AT_ONCE];
    private final long[] receives = new long[AT_ONCE];

    @TempDir
    Path directory;

    private TestNode sender;
    private TestNode receiver;
    private Connected ends;
    private long from;
    private long to;
    private long fromHandle;
    private long toHandle;

    /** A cluster with a node a and what {@link #receiver} names. */
    protected abstract TestCluster cluster(Path folder);

    /** Who receives; a itself where all links are its own. */
    protected String receiver() {
        return "b";
    }

    /** What the JDK allocates for a long message, under our hands; 0 where it does not. */
    protected int bytesOfALongMessage() {
        return 0;
    }

    @BeforeEach
    void connect() {
        TestCluster cluster = cluster(directory);
        sender = cluster.open("a");
        receiver = receiver().equals("a") ? sender : cluster.open(receiver());
        ends = new Connected(sender, receiver);
        from = sender.allocate(LONG_BYTES);
        to = receiver.allocate(LONG_BYTES);
        fromHandle = sender.register(ends.sendComm, from, LONG_BYTES);
        toHandle = receiver.register(ends.receiveComm, to, LONG_BYTES);
    }

    @AfterEach
    void close() {
        sender.close();
        if (receiver != sender) {
            receiver.close();
        }
    }

    @Test
    void aMessageAllocatesNothing() {
        AllocationAssert.assertZeroAllocation(() -> messages(1, SHORT_BYTES), 3_000);
    }

    @Test
    void messagesInFlightTogetherAllocateNothing() {
        AllocationAssert.assertZeroAllocation(() -> messages(AT_ONCE, SHORT_BYTES), 500);
    }

    /** With several queue pairs, in parts. Shares change now and then, by the way. */
    @Test
    void aLongMessageAllocatesNothing() {
        AllocationAssert.assertAllocationAtMost(() -> messages(1, LONG_BYTES), 300, bytesOfALongMessage());
    }

    @Test
    void aTestThatFindsNothingAllocatesNothing() {
        long empty = receive(SHORT_BYTES);

        AllocationAssert.assertZeroAllocation(() -> expect(receiver.plugin.test(empty), NetPlugin.NOT_DONE), 20_000);
    }

    @Test
    void aSendWithoutRoomAllocatesNothing() {
        // on software links that is with as many sends outstanding as there may be
        for (int i = 0; i < RequestRow.REQUESTS && send(0) != NetPlugin.TRY_AGAIN; i++) {}

        AllocationAssert.assertZeroAllocation(() -> expect(send(0), NetPlugin.TRY_AGAIN), 20_000);
    }

    @Test
    void aFlushAllocatesNothing() {
        AllocationAssert.assertZeroAllocation(this::flush, 20_000);
    }

    /** As NCCL does it: receives posted, sent, asked for, and flushed. */
    private void messages(int count, int size) {
        for (int i = 0; i < count; i++) {
            receives[i] = receive(size);
        }
        for (int i = 0; i < count; i++) {
            do {
                sends[i] = send(size);
            } while (sends[i] == NetPlugin.TRY_AGAIN);
        }
        for (int i = 0; i < count; i++) {
            finish(sender, sends[i], size);
            finish(receiver, receives[i], size);
        }
        flush();
    }

    private long receive(int size) {
        return receiver.plugin.irecv(ends.receiveComm, to, size, TAG, toHandle);
    }

    private long send(int size) {
        return sender.plugin.isend(ends.sendComm, from, size, TAG, fromHandle);
    }

    private void flush() {
        expect(receiver.plugin.iflush(ends.receiveComm, to, SHORT_BYTES, toHandle), NetPlugin.NOTHING_TO_FLUSH);
    }

    private static void finish(TestNode node, long request, int size) {
        long result;
        do {
            result = node.plugin.test(request);
        } while (result == NetPlugin.NOT_DONE);
        expect(result, size);
    }

    private static void expect(long result, long expected) {
        if (result != expected) {
            throw new AssertionError("a call returned " + result + " instead of " + expected);
        }
    }
}
