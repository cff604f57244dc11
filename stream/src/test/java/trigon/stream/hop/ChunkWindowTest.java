package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Two windows and what is between them, with everything that can happen next in random order. */
class ChunkWindowTest {

    private static final int SEEDS = Integer.getInteger("trigon.stream.hop.schedules", 1500);
    private static final int STEPS = 200;

    /** One side: its window, the receives it has posted, and what has landed in them. */
    private static final class Side {
        final ChunkWindow window;
        final Deque<Integer> landed = new ArrayDeque<>();
        int posted;
        int unread;
        int sent;
        int received;

        Side(int peerSlots, int ownSlots, int creditReceives) {
            window = new ChunkWindow(peerSlots, ownSlots);
            posted = ownSlots + creditReceives;
        }

        boolean mayAct() {
            return !landed.isEmpty() || unread > 0 || window.isCreditDue();
        }
    }

    /** What went wrong; empty if nothing did. */
    private static String run(long seed, int creditReceives) {
        SplittableRandom random = new SplittableRandom(seed);
        int slotsOfA = 1 + random.nextInt(4);
        int slotsOfB = 1 + random.nextInt(4);
        Side[] sides = {new Side(slotsOfB, slotsOfA, creditReceives), new Side(slotsOfA, slotsOfB, creditReceives)};
        List<Deque<Integer>> wires = List.of(new ArrayDeque<>(), new ArrayDeque<>());
        for (int step = 0; step < STEPS; step++) {
            int from = random.nextInt(2);
            String wrong = act(random.nextInt(5), sides[from], sides[1 - from], wires.get(from));
            if (!wrong.isEmpty()) {
                return wrong;
            }
        }
        return settle(sides, wires);
    }

    private static String act(int action, Side side, Side other, Deque<Integer> wire) {
        switch (action) {
            case 0 -> {
                if (side.window.maySend()) {
                    wire.add(side.window.sendChunk(false));
                    side.sent++;
                }
            }
            case 1 -> {
                if (!wire.isEmpty()) { // arrives, and takes a receive
                    if (other.posted == 0) {
                        return "a message without a receive";
                    }
                    other.posted--;
                    other.landed.add(wire.remove());
                }
            }
            case 2 -> {
                return side.landed.isEmpty() ? "" : poll(side);
            }
            case 3 -> {
                if (side.unread > 0) {
                    side.unread--;
                    side.posted++;
                    side.window.release();
                }
            }
            default -> {
                if (side.window.isCreditDue()) {
                    wire.add(side.window.sendCredits());
                }
            }
        }
        return "";
    }

    private static String poll(Side side) {
        int immediate = side.landed.remove();
        boolean credits = ChunkWindow.isCredits(immediate);
        String flaw = side.window.receive(immediate, credits ? 0 : 1);
        if (flaw != null) {
            return flaw;
        }
        if (credits) {
            side.posted++;
        } else {
            side.unread++;
            side.received++;
        }
        return "";
    }

    /** All that is under way arrives, and all is read: then both may send again. */
    private static String settle(Side[] sides, List<Deque<Integer>> wires) {
        while (sides[0].mayAct()
                || sides[1].mayAct()
                || !wires.get(0).isEmpty()
                || !wires.get(1).isEmpty()) {
            for (int action = 1; action < 5; action++) {
                for (int i = 0; i < 2; i++) {
                    String wrong = act(action, sides[i], sides[1 - i], wires.get(i));
                    if (!wrong.isEmpty()) {
                        return wrong;
                    }
                }
            }
        }
        boolean stuck = !sides[0].window.maySend() || !sides[1].window.maySend();
        boolean lost = sides[0].sent != sides[1].received || sides[1].sent != sides[0].received;
        return stuck ? "nobody may send any more" : lost ? "a chunk is lost" : "";
    }

    private static List<String> wrongs(int creditReceives) {
        List<String> wrongs = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            String wrong = run(seed, creditReceives);
            if (!wrong.isEmpty()) {
                wrongs.add("seed " + seed + ": " + wrong);
            }
        }
        return wrongs;
    }

    @Test
    void noMessageIsWithoutReceiveAndNobodyIsStuck() {
        assertThat(wrongs(ChunkWindow.CREDIT_MESSAGES)).isEmpty();
    }

    @Test
    void fewerReceivesForCreditsAreTooFew() {
        assertThat(wrongs(0)).isNotEmpty();
    }

    @Test
    void sendsNoMoreThanItHasCreditsFor() {
        ChunkWindow window = new ChunkWindow(2, 1);
        window.sendChunk(false);
        window.sendChunk(false);
        assertThat(window.maySend()).isFalse();
        assertThatThrownBy(() -> window.sendChunk(false)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void sendsNothingButCreditsAfterTheEnd() {
        ChunkWindow window = new ChunkWindow(2, 1);
        assertThat(ChunkWindow.isEnd(window.sendChunk(true))).isTrue();
        assertThat(window.maySend()).isFalse();
    }

    @Test
    void refusesWhatBreaksTheRules() {
        assertThat(new ChunkWindow(1, 1).receive(1, 4)).contains("out of order");
        assertThat(new ChunkWindow(1, 1).receive(1 << 16, 4)).contains("out of order");
        assertThat(new ChunkWindow(1, 1).receive(1 << 24, 4)).contains("more credits");
        assertThat(new ChunkWindow(1, 1).receive(ChunkWindow.CREDITS, 4)).contains("something else");
        assertThat(new ChunkWindow(1, 1).receive(ChunkWindow.CREDITS | ChunkWindow.END, 0))
                .contains("something else");
        assertThat(new ChunkWindow(1, 1).receive(ChunkWindow.END, 4)).contains("bytes with the end");
        ChunkWindow full = new ChunkWindow(1, 1);
        assertThat(full.receive(0, 4)).isNull();
        assertThat(full.receive(1, 4)).contains("without a credit");
        ChunkWindow over = new ChunkWindow(1, 2);
        assertThat(over.receive(ChunkWindow.END, 0)).isNull();
        assertThat(over.receive(1, 4)).contains("after the end");
    }
}
