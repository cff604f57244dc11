package trigon.onesided.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Window;

/** Additions to words that the GPU may write, too: one at a time. */
class SignalWordTest {

    /** Whose copies are over at once; no memory is touched. */
    private static final class Driver implements GpuMemory {

        @Override
        public boolean exists() {
            return true;
        }

        @Override
        public Kind kindOf(long address) {
            return Kind.DEVICE;
        }

        @Override
        public void enter() {}

        @Override
        public void leave() {}

        @Override
        public int copy(long to, long from, long bytes) {
            return 0;
        }

        @Override
        public int write(long address, long value) {
            return 0;
        }

        @Override
        public long mark() {
            return 1;
        }

        @Override
        public int isOver(long mark) {
            return 1;
        }

        @Override
        public void pin(long address, long bytes) {}

        @Override
        public void unpin(long address) {}

        @Override
        public void finish() {}

        @Override
        public void close() {}
    }

    /** Peers that add without a pause would never let it have its turn. */
    @Test
    void theRankItselfIsTheNextOnceItHasAsked() {
        try (Arena arena = Arena.ofConfined()) {
            SignalWord word = new SignalWord(new Driver(), arena.allocate(8, 8).address());
            Window window = new Window(1, 1L << 56, 64, 0, false, new boolean[] {true});
            assertThat(word.isFree(window)).isTrue();
            assertThat(word.begin(window, 0, 1)).isZero();
            assertThat(word.reserveForSelf(window)).isFalse();

            assertThat(word.goOn()).isZero();

            assertThat(word.isFree(window)).as("to a peer").isFalse();
            assertThat(word.reserveForSelf(window)).isTrue();
            assertThat(word.begin(window, 0, 1)).isZero();
            assertThat(word.goOn()).isZero();
            assertThat(word.isFree(window)).as("to a peer, afterwards").isTrue();
        }
    }
}
