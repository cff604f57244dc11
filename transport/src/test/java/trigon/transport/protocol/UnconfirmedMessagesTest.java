package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;
import trigon.testsupport.Seed;

class UnconfirmedMessagesTest {

    private record Sent(long sequence, int size, byte content) {}

    /** Whatever comes and goes, each message that is not confirmed keeps its bytes. */
    @Test
    void copiesStayUntilTheyAreConfirmed() {
        Random random = new Random(Seed.next());
        UnconfirmedMessages messages = new UnconfirmedMessages();
        Deque<Sent> expected = new ArrayDeque<>();
        int refused = 0;
        int grown = 0;
        try (Arena arena = Arena.ofConfined()) {
            long from = arena.allocate(UnconfirmedMessages.LONGEST_COPY).address();
            for (int step = 0; step < 100_000; step++) {
                int longest = step < 30_000 ? 4 << 10 : step < 60_000 ? 32 << 10 : UnconfirmedMessages.LONGEST_COPY;
                int size = random.nextInt(4) == 0 ? random.nextInt(longest + 1) : random.nextInt(200);
                if (step > 30_000 && !messages.hasRoom(size)) {
                    grown += messages.grow(size) ? 1 : 0;
                }
                if (messages.hasRoom(size)) {
                    byte content = (byte) random.nextInt();
                    Memory.fill(from, size, content);
                    expected.add(new Sent(messages.next(), size, content));
                    messages.add(from, size, step, null);
                    if (random.nextInt(10) == 0) {
                        messages.takeBack();
                        expected.removeLast();
                    }
                } else {
                    refused++;
                    assertThat(expected).isNotEmpty();
                }
                boolean peerIsSlow = step / 2000 % 2 == 1; // until there is no room
                if (random.nextInt(peerIsSlow ? 1000 : 20) == 0 && !expected.isEmpty()) {
                    long confirmed = expected.getFirst().sequence() + random.nextInt(expected.size() + 1);
                    messages.confirm(confirmed);
                    expected.removeIf(each -> each.sequence() < confirmed);
                }
                if (step % 50 == 0) {
                    expected.forEach(each -> assertKept(messages, each));
                }
            }
        }
        assertThat(refused).isPositive();
        assertThat(grown).as("to 128 KiB, then to 1 MiB").isEqualTo(2);
    }

    private static void assertKept(UnconfirmedMessages messages, Sent sent) {
        assertThat(messages.size(sent.sequence())).isEqualTo(sent.size());
        int same = 0;
        while (same < sent.size() && Memory.getByte(messages.address(sent.sequence()) + same) == sent.content()) {
            same++;
        }
        assertThat(same).as("bytes of message %d", sent.sequence()).isEqualTo(sent.size());
    }

    /** Else nothing would ever be confirmed, and nothing more be sent. */
    @Test
    void whenThereIsNoRoomThePeerHasBeenAsked() {
        Random random = new Random(Seed.next());
        try (Arena arena = Arena.ofConfined()) {
            long from = arena.allocate(UnconfirmedMessages.LONGEST_COPY).address();
            for (int round = 0; round < 1000; round++) {
                UnconfirmedMessages messages = new UnconfirmedMessages();
                int most = 1 + random.nextInt(UnconfirmedMessages.LONGEST_COPY);
                long asked = 0;
                for (int i = 0; i < 2000; i++) {
                    int size = random.nextInt(most);
                    boolean tooLong = size > messages.ringBytes(messages.ring()) / 4;
                    if (!messages.hasRoom(size) && (tooLong || random.nextBoolean())) {
                        messages.grow(size);
                    }
                    if (!messages.hasRoom(size)) { // there may be too many, too
                        assertThat(asked).isGreaterThan(messages.oldest());
                        messages.confirm(asked);
                    }
                    assertThat(messages.hasRoom(size)).isTrue();
                    messages.add(from, size, 0, null);
                    boolean asks = messages.askIfDue();
                    if (random.nextInt(10) == 0) {
                        messages.takeBack();
                    } else if (asks) {
                        asked = messages.next();
                    }
                }
            }
        }
    }

    /** NCCL's memory has to do, and what was short enough before still is. */
    @Test
    void withoutMemoryForALargerRingLongMessagesAreNotCopied() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = arena.allocate(16 << 10, 64);
            Iterator<MemorySegment> rings = List.of(first).iterator();
            UnconfirmedMessages messages = new UnconfirmedMessages(_ -> {
                if (!rings.hasNext()) {
                    throw new OutOfMemoryError("planted");
                }
                return rings.next();
            });
            long from = arena.allocate(32 << 10).address();

            assertThat(messages.hasRoom(32 << 10)).isFalse();
            assertThat(messages.grow(32 << 10)).isFalse();
            assertThat(messages.hasRoom(32 << 10)).isTrue();
            messages.add(from, 32 << 10, 0, null);
            messages.add(from, 4 << 10, 0, null);

            assertThat(messages.address(0)).isEqualTo(from);
            assertThat(messages.address(1)).isEqualTo(first.address());
        }
    }
}
