package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.testsupport.ProcessResources;
import trigon.verbs.Memory;

class ClearToSendMemoryTest {

    private static final int PAGE = 4096;
    private static final int LINE = 64;

    private final ClearToSendMemory memory = new ClearToSendMemory();

    @AfterEach
    void close() {
        memory.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {RequestRing.SLOTS * ClearToSend.STRIDE, RequestRing.SLOTS * StripedClearToSend.STRIDE})
    void ringsAreApartAndEachInOnePage(int bytes) {
        TreeMap<Long, Integer> rings = new TreeMap<>();
        for (int i = 0; i < 200; i++) {
            long ring = memory.take(bytes);
            assertThat(ring % LINE).as("an entry is in one cache line").isZero();
            assertThat(ring / PAGE).isEqualTo((ring + bytes - 1) / PAGE);
            rings.put(ring, bytes);
        }
        assertThat(rings).hasSize(200);
        long end = 0;
        for (long ring : rings.keySet()) {
            assertThat(ring).isGreaterThanOrEqualTo(end);
            end = ring + bytes;
        }
    }

    @Test
    void whatAnotherHadBeforeIsEmpty() {
        int bytes = RequestRing.SLOTS * ClearToSend.STRIDE;
        memory.take(bytes); // keeps the pages
        long first = memory.take(bytes);
        Memory.putLong(first + bytes - Long.BYTES, 7);
        memory.giveBack(first);

        long again = memory.take(bytes);

        assertThat(again).isEqualTo(first);
        assertThat(Memory.getLong(again + bytes - Long.BYTES)).isZero();
        assertThat(memory.take(bytes)).isNotEqualTo(again);
    }

    @Test
    void theLastPagesStayForTheNextRing() {
        int bytes = RequestRing.SLOTS * ClearToSend.STRIDE;
        long first = memory.take(bytes);
        memory.giveBack(first);
        long other = memory.take(RequestRing.SLOTS * StripedClearToSend.STRIDE);

        assertThat(memory.take(bytes)).isEqualTo(first);
        assertThat(other).isNotEqualTo(first);
    }

    @Test
    void aRingThatComesAndGoesBesideFullPagesKeepsItsOwn() {
        int bytes = RequestRing.SLOTS * ClearToSend.STRIDE;
        List<Long> full = new ArrayList<>();
        for (int i = 0; i < 24; i++) { // three in each of eight pages
            full.add(memory.take(bytes));
        }
        long comes = memory.take(bytes);
        Memory.putLong(comes, 7);
        memory.giveBack(comes);
        full.forEach(ring -> assertThat(Memory.getLong(ring)).isZero());

        assertThat(memory.take(bytes)).isEqualTo(comes);
    }

    @Test
    void pagesWithoutRingsAreFreed() {
        int bytes = RequestRing.SLOTS * ClearToSend.STRIDE;
        long idle = ProcessResources.now().nativeBytes();
        List<Long> rings = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            rings.add(memory.take(bytes));
        }
        rings.forEach(memory::giveBack);

        assertThat(ProcessResources.now().nativeBytes()).isLessThan(idle + (1 << 20));
    }
}
