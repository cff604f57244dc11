package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapTrimTest {

    private long committed = 16;
    private long inUse = 8;
    private int collections;

    private final HeapTrim trim = new HeapTrim(() -> committed, this::collect, Runnable::run);

    @Test
    void collectsOnceTheHeapHasDoubled() {
        lookAt(31);
        assertThat(collections).isZero();

        lookAt(32);
        assertThat(collections).isOne();
        assertThat(committed).isEqualTo(12);
    }

    @Test
    void collectsWhatALesserBurstHasLeftOnceItIsOver() {
        lookAt(20);
        lookAt(24);
        assertThat(collections).isZero();

        lookAt(24);
        assertThat(collections).isOne();
    }

    @Test
    void leavesAHeapAloneThatIsAsSmallAsAtTheStart() {
        lookAt(32);
        lookAt(25);
        assertThat(collections).isOne();
    }

    @Test
    void leavesAHeapAloneThatIsInUse() {
        inUse = 40;
        lookAt(64);
        lookAt(80);
        lookAt(80);
        assertThat(collections).isOne();

        inUse = 8;
        lookAt(120);
        lookAt(31);
        assertThat(collections).isEqualTo(2);
    }

    private void lookAt(long bytes) {
        committed = bytes;
        trim.look();
    }

    private void collect() {
        collections++;
        committed = inUse * 3 / 2;
    }
}
