package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
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
                int size = random.nextInt(4) == 0
                        ? random.nextInt(UnconfirmedMessages.LONGEST_COPY + 1)
                        : random.nextInt(200);
                if (step == 30_000) {
                    while (messages.hasRoom(UnconfirmedMessages.LONGEST_COPY)) {
                        expected.add(new Sent(messages.next(), 100, Memory.getByte(from)));
                        Memory.fill(from, 100, Memory.getByte(from));
                        messages.add(from, 100, step, null);
                    }
                    grown += messages.grow(UnconfirmedMessages.LONGEST_COPY) ? 1 : 0;
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
        assertThat(grown).isEqualTo(1);
    }

    private static void assertKept(UnconfirmedMessages messages, Sent sent) {
        assertThat(messages.size(sent.sequence())).isEqualTo(sent.size());
        for (int i = 0; i < sent.size(); i++) {
            assertThat(Memory.getByte(messages.address(sent.sequence()) + i)).isEqualTo(sent.content());
        }
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
                    if (!messages.hasRoom(size) && random.nextBoolean()) {
                        messages.grow(size);
                    }
                    if (!messages.hasRoom(size)) { // there may be too many, too
                        assertThat(asked).isGreaterThan(messages.oldest());
                        messages.confirm(asked);
                    }
                    assertThat(messages.hasRoom(size)).isTrue();
                    messages.add(from, size, 0, null);
                    boolean asks = messages.isToAsk();
                    if (random.nextInt(10) == 0) {
                        messages.takeBack();
                    } else if (asks) {
                        asked = messages.next();
                    }
                }
            }
        }
    }
}
