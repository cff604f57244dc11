package trigon.software.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import trigon.software.wire.WireFormat;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.Seed;

/** Messages of any lengths, with and without tails, and what is left in the socket after one. */
class StreamReaderTest {

    /** A header is a number, the payload's length, and whether there is a tail. */
    private static final int HEADER_BYTES = 12;

    private static final int MAX_PAYLOAD = 30_000;
    private static final int MAX_BYTES = HEADER_BYTES + MAX_PAYLOAD + WireFormat.TAIL_BYTES;
    private static final int MESSAGES = 300;

    private SocketChannel sender;
    private Reader reader;
    private int sent;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            sender = SocketChannel.open(listener.getLocalAddress());
            SocketChannel receiver = listener.accept();
            receiver.configureBlocking(false);
            reader = new Reader(receiver);
        }
    }

    @AfterEach
    void disconnect() throws IOException {
        reader.end("the test is over");
        sender.close();
    }

    @Test
    void leavesTheTailOfAMessageAsLongAsTheLastOne() throws IOException {
        take(8, true);
        reader.receive(); // nothing else is there: from now on no more is read than such a message
        take(8, true);
        assertThat(unread()).isEqualTo(WireFormat.TAIL_BYTES);
        reader.receive(); // the tail
        assertThat(unread()).isZero();
        take(8, true);
        assertThat(unread()).isEqualTo(WireFormat.TAIL_BYTES);
    }

    @Test
    void takesWhatHasPiledUpWithOneRead() throws IOException {
        take(8, true);
        reader.receive();
        take(8, true);
        for (int i = 0; i < 10; i++) {
            send(8, true);
        }
        Await.until(
                "all have come",
                () -> unread() == WireFormat.TAIL_BYTES + 10 * (HEADER_BYTES + 8 + WireFormat.TAIL_BYTES));
        reader.receive();
        assertThat(reader.lengths).hasSize(12);
        assertThat(unread()).isZero();
    }

    @Test
    void readsOnWhereAMessageIsLongerThanTheLast() throws IOException {
        take(8, true);
        reader.receive();
        take(1000, true);
        assertThat(reader.lengths).containsExactly(8, 1000);
    }

    @Test
    void leavesNothingBehindAMessageWithoutATail() throws IOException {
        take(8, false);
        reader.receive();
        take(8, false);
        assertThat(unread()).isZero();
    }

    @Test
    void takesTheTailBeforeItCloses() throws IOException {
        take(8, true);
        reader.receive();
        take(8, true);
        assertThat(unread()).isEqualTo(WireFormat.TAIL_BYTES);
        reader.end("the test wants it");
        // a reset would be an exception here
        assertThat(sender.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }

    /** Others read into it, too. */
    @Test
    void aSharedBufferIsLeftAsItIs() throws IOException {
        ByteBuffer shared = ByteBuffer.allocateDirect(64).position(5).limit(7);
        Reader sharing = new Reader(reader.channel(), shared);
        send(0, false);
        Await.until("all has come", () -> unread() == HEADER_BYTES);
        sharing.receive();
        assertThat(sharing.lengths).containsExactly(0);
        assertThat(shared.position()).isEqualTo(5);
        assertThat(shared.limit()).isEqualTo(7);
    }

    /** A read for the header, and one for the payload with the header behind it. */
    @Test
    void readsALongPayloadToItsPlaceAndTheNextHeaderWithIt() throws IOException {
        int length = 20_000;
        take(length, false);
        assertThat(reader.inPlace)
                .as("what came with the first header is copied")
                .isPositive();
        reader.inPlace = 0;
        send(length, false);
        send(0, false);
        send(length, false);
        Await.until("all has come", () -> unread() == 3 * HEADER_BYTES + 2 * length);

        reader.receive();

        assertThat(reader.lengths).containsExactly(length, length, 0);
        assertThat(reader.inPlace).isEqualTo(length);
        assertThat(unread()).isEqualTo(HEADER_BYTES + length);
        reader.receive();
        assertThat(reader.lengths).containsExactly(length, length, 0, length);
        assertThat(reader.inPlace).isEqualTo(2 * length);
        assertThat(unread()).isZero();
    }

    @Test
    void leavesAPayloadToAnotherThread() throws IOException {
        reader.leavesPayloads = true;
        send(20_000, false);
        Await.until("the header is read", () -> {
            reader.receive();
            return reader.payloadBytes() == 20_000;
        });
        reader.receive();
        assertThat(reader.lengths).isEmpty();

        reader.leavesPayloads = false;
        Await.until("the payload is read", () -> {
            reader.receive();
            return reader.lengths.equals(List.of(20_000));
        });
        assertThat(reader.payloadBytes()).isZero();
    }

    @RepeatedTest(4)
    void handsOnWhatWasSentInPiecesOfAnyLength() throws IOException {
        Random random = new Random(Seed.next());
        sender.configureBlocking(false);
        List<Integer> lengths = new ArrayList<>();
        ByteBuffer all = ByteBuffer.allocate(MESSAGES / 2 * MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < MESSAGES; i++) {
            boolean asBefore = i > 0 && random.nextInt(4) > 0;
            lengths.add(
                    asBefore
                            ? lengths.getLast()
                            : random.nextInt(1 + random.nextInt(random.nextInt(4) > 0 ? 2048 : MAX_PAYLOAD)));
            put(all, i, lengths.getLast(), random.nextInt(8) > 0);
        }
        int end = all.flip().limit();
        Await.until("all have come", () -> {
            try {
                all.limit(Math.min(end, all.position() + random.nextInt(random.nextInt(8) > 0 ? 100 : 60_000)));
                sender.write(all);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            reader.pausesBeforePayload = random.nextInt(4) == 0;
            reader.receive();
            reader.leavesPayloads = random.nextInt(4) == 0;
            if (reader.isPaused() && random.nextBoolean()) {
                reader.goOn();
            }
            return reader.lengths.size() == MESSAGES;
        });
        assertThat(reader.lengths).isEqualTo(lengths);
    }

    private void take(int length, boolean tail) throws IOException {
        int before = reader.lengths.size();
        send(length, tail);
        Await.until("the message is there", () -> {
            reader.receive();
            return reader.lengths.size() > before;
        });
    }

    private void send(int length, boolean tail) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        put(message, sent++, length, tail);
        sender.write(message.flip());
    }

    private static void put(ByteBuffer into, int number, int length, boolean tail) {
        into.putInt(number).putInt(length).putInt(tail ? 1 : 0);
        for (int i = 0; i < length; i++) {
            into.put((byte) (number + i));
        }
        if (tail) {
            into.put((byte) 0xEE);
        }
    }

    /** Bytes that are in the socket. */
    private int unread() {
        try {
            return reader.channel().socket().getInputStream().available();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Notes what has come, and that it is what was sent. */
    private static final class Reader extends StreamReader {

        private final List<Integer> lengths = new ArrayList<>();
        private final NativeBuffer place = new NativeBuffer(MAX_PAYLOAD);
        private boolean pausesBeforePayload;
        private boolean leavesPayloads;
        private int inPlace;
        private int length;
        private int filled;

        Reader(SocketChannel channel) {
            super(channel, HEADER_BYTES, COPIED_BYTES);
        }

        Reader(SocketChannel channel, ByteBuffer shared) {
            super(channel, HEADER_BYTES, shared);
        }

        @Override
        protected void onHeader(long at) {
            assertThat(Memory.getInt(at)).isEqualTo(lengths.size());
            length = Memory.getInt(at + 4);
            filled = 0;
            if (Memory.getInt(at + 8) != 0) {
                expectTail(length);
            }
            if (pausesBeforePayload) {
                pause();
            } else {
                begin();
            }
        }

        private void begin() {
            expectPayload(length);
            if (length == 0) {
                lengths.add(0);
            }
        }

        void goOn() {
            begin();
            resume();
        }

        @Override
        protected void onPayload(long at, int bytes, boolean last) {
            for (int i = 0; i < bytes; i++) {
                assertThat(Memory.getByte(at + i)).isEqualTo((byte) (lengths.size() + filled++));
            }
            finish(last);
        }

        private void finish(boolean last) {
            if (last) {
                assertThat(filled).isEqualTo(length);
                lengths.add(length);
            }
        }

        @Override
        protected ByteBuffer inPlace(int bytes) {
            return Memory.segment(place.at(filled), Math.min(bytes, 10_000)).asByteBuffer();
        }

        @Override
        protected void onPayloadInPlace(int bytes, boolean last) {
            inPlace += bytes;
            onPayload(place.at(filled), bytes, last);
        }

        @Override
        protected boolean isLeftToMover(int bytes) {
            return leavesPayloads;
        }

        @Override
        protected void onClosed() {
            place.close();
        }
    }
}
