package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.stream.hop.TestHop.bytes;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.testsupport.ManualClock;
import trigon.testsupport.verbs.SendFabric;
import trigon.verbs.QueuePairStateCode;

class ChunkStreamTest {

    private static final int DEADLINE_MILLIS = 20_000;

    private final SendFabric fabric = TestHop.fabric();
    private final HopDevices devices = TestHop.devices(fabric);

    @AfterEach
    void nothingIsLeftOpen() {
        devices.close();
        assertThat(fabric.ledger().outstanding()).isEmpty();
    }

    @Test
    void carriesBytesWhateverShowsLate() throws IOException {
        for (int seed = 0; seed < 20; seed++) {
            fabric.showLate(new SplittableRandom(seed));
            try (TestHop hop = new TestHop(devices, devices)) {
                pump(hop.dialler.orElseThrow(), hop.accepter.orElseThrow(), 2_000_000, seed);
            }
        }
    }

    @Test
    void carriesBytesBothWays() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            pump(hop.dialler.orElseThrow(), hop.accepter.orElseThrow(), 3_000_000, 1);
            pump(hop.accepter.orElseThrow(), hop.dialler.orElseThrow(), 300_000, 2);
        }
    }

    /** Random pieces of random bytes, which all arrive in their order. */
    private static void pump(ChunkStream from, ChunkStream to, int total, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        SplittableRandom expected = new SplittableRandom(seed + 100);
        SplittableRandom values = new SplittableRandom(seed + 100);
        ByteBuffer header = ByteBuffer.allocateDirect(100).limit(0);
        ByteBuffer payload = ByteBuffer.allocateDirect(200_000).limit(0);
        ByteBuffer[] both = {header, payload};
        ByteBuffer[] into = {ByteBuffer.allocateDirect(64), ByteBuffer.allocateDirect(100_000)};
        int written = 0;
        int read = 0;
        while (read < total) {
            if (!header.hasRemaining() && !payload.hasRemaining() && written < total) {
                fill(header, random.nextInt(100), values);
                fill(payload, random.nextInt(200_000), values);
            }
            written += (int) from.write(both, 0, 2);
            into[0].clear();
            into[1].clear();
            read += (int) to.read(into, 0, 2);
            for (ByteBuffer each : into) {
                each.flip();
                while (each.hasRemaining()) {
                    assertThat(each.get()).isEqualTo((byte) expected.nextInt());
                }
            }
            from.poll();
        }
    }

    private static void fill(ByteBuffer buffer, int bytes, SplittableRandom values) {
        buffer.clear();
        for (int i = 0; i < bytes; i++) {
            buffer.put((byte) values.nextInt());
        }
        buffer.flip();
    }

    @Test
    void aReaderThatDoesNotReadHoldsUpTheWriter() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ByteBuffer much = ByteBuffer.allocateDirect(10 << 20);
            ChunkStream writer = hop.dialler.orElseThrow();
            while (writer.write(much) > 0) {
                hop.accepter.orElseThrow().poll();
            }
            assertThat(much.position()).isEqualTo(SlotGeometry.FORWARD.slots() * SlotGeometry.FORWARD.slotBytes());
            ByteBuffer some = ByteBuffer.allocateDirect(4 * SlotGeometry.FORWARD.slotBytes());
            assertThat(hop.accepter.orElseThrow().read(some)).isEqualTo(some.capacity());
            hop.accepter.orElseThrow().poll();
            assertThat(writer.write(much)).isEqualTo(some.capacity());
        }
    }

    @Test
    void theEndComesBehindTheLastByte() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream writer = hop.dialler.orElseThrow();
            ChunkStream reader = hop.accepter.orElseThrow();
            writer.write(bytes(1, 2, 3));
            writer.shutdownOutput();
            writer.shutdownOutput();
            ByteBuffer into = ByteBuffer.allocateDirect(10);
            assertThat(reader.read(into)).isEqualTo(3);
            assertThat(reader.read(into)).isEqualTo(-1);
            assertThat(reader.read(into)).isEqualTo(-1);
            assertThat(writer.write(bytes(4))).isZero();
            reader.write(bytes(5)); // the other direction goes on
            assertThat(writer.read(into)).isEqualTo(1);
        }
    }

    @Test
    void theEndWaitsForACredit() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream writer = hop.dialler.orElseThrow();
            ChunkStream reader = hop.accepter.orElseThrow();
            ByteBuffer all = ByteBuffer.allocateDirect(10 << 20);
            while (writer.write(all) > 0) {}
            writer.shutdownOutput();
            assertThat(writer.isOutputOver()).isFalse();
            ByteBuffer into = ByteBuffer.allocateDirect(10 << 20);
            while (reader.read(into) >= 0) {
                reader.poll();
                writer.poll();
            }
            assertThat(into.position()).isEqualTo(all.position());
            assertThat(writer.isOutputOver()).isTrue();
        }
    }

    @Test
    void whoHasHeardTheEndMayGoWithoutAWord() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream ending = hop.accepter.orElseThrow();
            ending.shutdownOutput();
            hop.dialler.orElseThrow().close();
            awaitReadable(hop);
            assertThat(ending.listen()).isTrue();
            assertThat(ending.read(ByteBuffer.allocateDirect(1))).isEqualTo(-1);
            assertThat(ending.interest(true, true)).isZero();
            assertThat(ending.isSending()).isFalse();
        }
    }

    @Test
    void anEndWithoutAWordBreaksIt() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream reader = hop.accepter.orElseThrow();
            hop.dialler.orElseThrow().write(bytes(1));
            hop.dialler.orElseThrow().close();
            ByteBuffer into = ByteBuffer.allocateDirect(10);
            assertThat(reader.read(into)).isEqualTo(1); // what has come is had
            awaitReadable(hop);
            assertThat(reader.listen()).isTrue();
            assertThatThrownBy(() -> reader.read(into))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("closed");
        }
    }

    /** Who only forwards finds nothing to read, and would be told of the same connection without end. */
    @Test
    void aConnectionThatIsResetBreaksItForWhoOnlyPolls() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream stays = hop.accepter.orElseThrow();
            resetDialler(hop);

            assertThat(heardOf(stays)).isTrue();
            assertThatThrownBy(stays::poll).isInstanceOf(IOException.class);
        }
    }

    /** A process that ends with a word unread on its connection resets it. */
    @Test
    void afterTheEndOfBothAResetIsNone() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream goes = hop.dialler.orElseThrow();
            ChunkStream stays = hop.accepter.orElseThrow();
            goes.shutdownOutput();
            stays.shutdownOutput();
            goes.poll();
            stays.poll();
            resetDialler(hop);

            assertThat(heardOf(stays)).isTrue();
            stays.poll();
            assertThat(stays.interest(true, true))
                    .as("the socket says it all the time")
                    .isZero();
            assertThat(stays.read(ByteBuffer.allocateDirect(1))).isEqualTo(-1);
        }
    }

    /** It would sleep for good: neither the socket nor a poller would tell it of the end. */
    @Test
    void whoFindsTheConnectionResetWhenItGoesToSleepIsWoken() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream stays = hop.accepter.orElseThrow();
            resetDialler(hop);
            awaitReadable(hop);

            stays.sleep(); // says a word, which nobody hears

            assertThat(stays.interest(true, true)).isEqualTo(SelectionKey.OP_READ);
            awaitReadable(hop);
            assertThat(stays.listen()).isTrue();
            assertThat(stays.interest(true, true)).isZero();
            assertThatThrownBy(stays::poll).isInstanceOf(IOException.class);
        }
    }

    private static void resetDialler(TestHop hop) throws IOException {
        hop.dialled.setOption(StandardSocketOptions.SO_LINGER, 0);
        hop.dialler.orElseThrow().close();
        hop.dialled.close();
    }

    /** Whether it is told of something before the deadline. */
    private static boolean heardOf(ChunkStream stream) throws IOException {
        long deadline = System.nanoTime() + DEADLINE_MILLIS * 1_000_000L;
        while (!stream.listen()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
        }
        return true;
    }

    @Test
    void nothingIsReadOrWrittenAfterTheEnd() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream reader = hop.accepter.orElseThrow();
            hop.dialler.orElseThrow().write(bytes(1, 2));
            assertThat(reader.read(ByteBuffer.allocateDirect(1))).isEqualTo(1);
            reader.close();
            reader.close();
            assertThatThrownBy(() -> reader.read(ByteBuffer.allocateDirect(1))).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> reader.write(bytes(3))).isInstanceOf(IOException.class);
            assertThat(reader.hasInput()).isFalse();
            assertThat(reader.listen()).isTrue();
        }
    }

    /** As with a queue pair that failed and could not say so by a completion. */
    @Test
    void aDeviceThatSaysNothingOfWhatIsSentBreaksIt() throws IOException {
        ManualClock clock = new ManualClock();
        try (HopDevices watched = TestHop.devices(fabric, clock);
                TestHop hop = new TestHop(watched, watched)) {
            ChunkStream writer = hop.dialler.orElseThrow();
            assertThat(writer.write(bytes(1))).isOne();
            writer.poll();
            clock.advance(Duration.ofHours(1)); // nothing is under way
            writer.poll();

            fabric.fallSilent();
            assertThat(writer.write(bytes(2))).isOne();
            clock.advance(Duration.ofMillis(9_999));
            writer.poll();
            clock.advance(Duration.ofMillis(1));

            assertThatThrownBy(writer::poll).isInstanceOf(IOException.class).hasMessageContaining("says nothing");
        }
    }

    @Test
    void aCutBreaksIt() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            fabric.cut();
            ByteBuffer into = ByteBuffer.allocateDirect(10);
            assertThatThrownBy(() -> hop.accepter.orElseThrow().read(into))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("RETRY_EXCEEDED");
            assertThatThrownBy(() -> hop.accepter.orElseThrow().write(bytes(1))).isInstanceOf(IOException.class);
        }
    }

    @Test
    void whoSleepsIsWokenByTheNextChunk() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream writer = hop.dialler.orElseThrow();
            ChunkStream reader = hop.accepter.orElseThrow();
            reader.sleep();
            awaitReadable(hop.dialled);
            writer.listen();
            assertThat(hop.accepted.read(ByteBuffer.allocate(1))).isZero(); // nobody has rung yet
            writer.write(bytes(1));
            awaitReadable(hop);
            assertThat(reader.listen()).isTrue();
            assertThat(reader.read(ByteBuffer.allocateDirect(1))).isEqualTo(1);
        }
    }

    @Test
    void aChunkThatCrossesTheWordOfSleepWakesToo() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            ChunkStream writer = hop.dialler.orElseThrow();
            ChunkStream reader = hop.accepter.orElseThrow();
            reader.poll();
            writer.write(bytes(1)); // it has arrived, and nobody has looked
            reader.sleep();
            awaitReadable(hop.dialled);
            writer.listen();
            awaitReadable(hop);
            assertThat(reader.listen()).isTrue();
            assertThat(reader.read(ByteBuffer.allocateDirect(1))).isEqualTo(1);
        }
    }

    private static void awaitReadable(TestHop hop) throws IOException {
        awaitReadable(hop.accepted);
    }

    private static void awaitReadable(SocketChannel socket) throws IOException {
        try (Selector selector = Selector.open()) {
            socket.register(selector, SelectionKey.OP_READ);
            assertThat(selector.select(DEADLINE_MILLIS)).isOne();
        }
    }

    @Test
    void staysOnTcpWithoutMemoryOrDevice() throws IOException {
        fabric.limitMemory(20_000);
        try (TestHop hop = new TestHop(devices, devices)) {
            assertThat(hop.dialler).isEmpty();
            assertThat(hop.accepter).isEmpty();
        }
        fabric.limitMemory(Long.MAX_VALUE);
        HopDevices none = new HopDevices(List.of(), 0);
        try (TestHop hop = new TestHop(devices, none)) {
            assertThat(hop.dialler).isEmpty();
            assertThat(hop.accepter).isEmpty();
        }
        try (TestHop hop = new TestHop(none, devices)) {
            assertThat(hop.dialler).isEmpty();
            assertThat(hop.accepter).isEmpty();
        }
    }

    @Test
    void staysOnTcpBeyondTheMemoryThatSlotsMayLock() throws IOException {
        // each side locks what it receives into, and what it sends from
        long ofOne = 2
                * (SlotGeometry.FORWARD.within(0).bytes()
                        + SlotGeometry.BACK.within(0).bytes());
        try (HopDevices few =
                TestHop.devices(fabric, ofOne + SlotGeometry.BACK.within(0).bytes())) {
            try (TestHop first = new TestHop(few, few);
                    TestHop second = new TestHop(few, few)) {
                assertThat(first.dialler).isPresent();
                assertThat(second.dialler).isEmpty();
                assertThat(second.accepter).isEmpty();
            }
            try (TestHop third = new TestHop(few, few)) {
                assertThat(third.dialler).as("what the others took is free").isPresent();
            }
            fabric.limitMemory(20_000);
            try (TestHop refused = new TestHop(few, few)) {
                assertThat(refused.dialler).isEmpty();
            }
            fabric.limitMemory(Long.MAX_VALUE);
            try (TestHop last = new TestHop(few, few)) {
                assertThat(last.dialler).as("a refusal takes nothing").isPresent();
            }
        }
    }

    /** A relay with little memory between ends with enough, and an end with little behind one with enough. */
    @Test
    void slotsOfUnlikeLengthPassAllBytesOn() throws IOException {
        long little = 2
                        * (SlotGeometry.FORWARD.within(0).bytes()
                                + SlotGeometry.BACK.within(0).bytes())
                + 100_000;
        for (boolean isRelayFull : new boolean[] {true, false}) {
            try (HopDevices full = TestHop.devices(fabric, little);
                    TestHop first = new TestHop(devices, isRelayFull ? full : devices, true, false);
                    TestHop second =
                            new TestHop(isRelayFull ? full : devices, isRelayFull ? devices : full, false, true)) {
                ByteBuffer sent = ByteBuffer.allocateDirect(1 << 20);
                for (int i = 0; i < sent.capacity(); i++) {
                    sent.put(i, (byte) ((i * 7919) >>> 5));
                }
                assertThat(relayed(first, second, sent)).isEqualTo(sent.flip());
            }
        }
    }

    private static ByteBuffer relayed(TestHop first, TestHop second, ByteBuffer sent) throws IOException {
        ChunkStream writer = first.dialler.orElseThrow();
        ChunkStream in = first.accepter.orElseThrow();
        ChunkStream out = second.dialler.orElseThrow();
        ChunkStream reader = second.accepter.orElseThrow();
        ChunkForwarder onward = new ChunkForwarder(in, out);
        ByteBuffer received = ByteBuffer.allocateDirect(sent.capacity());
        while (received.hasRemaining()) {
            writer.write(sent);
            step(in, out, onward);
            reader.read(received);
            writer.poll();
        }
        return received.flip();
    }

    @Test
    void forwardsFromWhereChunksLandAndHoldsUpTheWriterOnly() throws IOException {
        try (TestHop first = new TestHop(devices, devices, true, false);
                TestHop second = new TestHop(devices, devices, false, true)) {
            ChunkStream writer = first.dialler.orElseThrow();
            ChunkStream in = first.accepter.orElseThrow();
            ChunkStream out = second.dialler.orElseThrow();
            ChunkStream reader = second.accepter.orElseThrow();
            ChunkForwarder onward = new ChunkForwarder(in, out);
            ChunkForwarder back = new ChunkForwarder(out, in);
            ByteBuffer sent = ByteBuffer.allocateDirect(5 << 20);
            for (int i = 0; i < sent.capacity(); i++) {
                sent.put(i, (byte) ((i * 7919) >>> 5));
            }
            for (int idle = 0; idle < 10; idle++) { // nobody reads: both windows get full
                if (writer.write(sent) + step(in, out, onward) > 0) {
                    idle = 0;
                }
            }
            int window = SlotGeometry.FORWARD.slots() * SlotGeometry.FORWARD.slotBytes();
            assertThat(sent.position()).isEqualTo(2 * window);
            ByteBuffer received = ByteBuffer.allocateDirect(5 << 20);
            boolean over = false;
            while (!over) {
                writer.write(sent);
                if (!sent.hasRemaining()) {
                    writer.shutdownOutput();
                }
                step(in, out, onward);
                over = reader.read(received) < 0;
                reader.poll();
                writer.poll();
            }
            assertThat(received.flip()).isEqualTo(sent.flip());
            assertThat(out.isOutputOver()).isTrue();
            reader.write(bytes(9));
            out.poll();
            back.forward();
            assertThat(writer.read(ByteBuffer.allocateDirect(1))).isEqualTo(1);
        }
    }

    /** A relay closes the hops of a circuit one after the other, and the second still sends what the first received. */
    @Test
    void keepsMemoryUntilNoQueuePairSendsFromIt() throws IOException {
        try (TestHop first = new TestHop(devices, devices, true, false);
                TestHop second = new TestHop(devices, devices, false, true)) {
            ChunkStream in = first.accepter.orElseThrow();
            ChunkStream out = second.dialler.orElseThrow();
            ChunkForwarder onward = new ChunkForwarder(in, out);
            new ChunkForwarder(out, in);
            first.dialler.orElseThrow().write(ByteBuffer.allocateDirect(256 << 10));
            assertThat(step(in, out, onward)).isPositive();

            in.close();

            assertThat(out.resources().queuePair().queryState()).isEqualTo(QueuePairStateCode.READY_TO_SEND);
            assertThat(in.resources().slots().isFreed()).isFalse();
            out.close();
            assertThat(in.resources().slots().isFreed()).isTrue();
            assertThat(out.resources().slots().isFreed()).isTrue();
        }
    }

    /** A queue pair that its device does not let go of may send, and receive, for ever. */
    @Test
    void keepsMemoryOfAQueuePairThatCannotBeDestroyed() throws IOException {
        SendFabric stubborn = TestHop.fabric();
        HopDevices of = TestHop.devices(stubborn);
        TestHop first = new TestHop(of, of, true, false);
        TestHop second = new TestHop(of, of, false, true);
        ChunkStream in = first.accepter.orElseThrow();
        ChunkStream out = second.dialler.orElseThrow();
        new ChunkForwarder(in, out);
        in.close();
        stubborn.keepQueuePairs();

        out.close();

        assertThat(in.resources().slots().isFreed()).isFalse();
        assertThat(out.resources().slots().isFreed()).isFalse();
        first.close();
        second.close();
    }

    private static int step(ChunkStream in, ChunkStream out, ChunkForwarder onward) throws IOException {
        in.poll();
        out.poll();
        return onward.forward();
    }
}
