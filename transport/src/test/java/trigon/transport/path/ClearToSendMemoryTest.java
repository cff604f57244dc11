package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.system.Memory;
import trigon.testsupport.ProcessResources;

class ClearToSendMemoryTest {

    private static final int PAGE = 4 << 10;
    private static final int LARGEST_PAGE = 64 << 10;
    private static final int ENTRY = 64;
    /** Of x86-64 and most arm64, and of some arm64. */
    private static final List<Integer> LINES = List.of(64, 128);

    private static final int RINGS = 200;
    private static final int SHORT = 1 << 10;
    private static final int LONG = 2 << 10;

    private final ClearToSendMemory memory = new ClearToSendMemory(PAGE);

    @AfterEach
    void close() {
        memory.close();
    }

    @ParameterizedTest
    @MethodSource("lengthsAndPages")
    void ringsAreApartAndEachInOnePage(int bytes, int page) {
        try (ClearToSendMemory inPages = new ClearToSendMemory(page)) {
            TreeSet<Long> rings = new TreeSet<>();
            for (int i = 0; i < RINGS; i++) {
                long ring = inPages.take(bytes);
                assertThat(ring % ENTRY).as("an entry is in one cache line").isZero();
                assertThat(ring / page).isEqualTo((ring + bytes - 1) / page);
                rings.add(ring);
            }
            assertThat(rings).hasSize(RINGS);
            assertThat(rings.first() % page).as("pages hold nothing else").isZero();
            long end = 0;
            for (long ring : rings) {
                assertThat(ring).isGreaterThanOrEqualTo(end);
                for (int line : LINES) {
                    assertThat(ring / line).as("rings share no line").isGreaterThan((end - 1) / line);
                }
                end = ring + bytes;
            }
            long pages = rings.stream().map(ring -> ring / page).distinct().count();
            assertThat(pages * page).as("rings share pages").isLessThan(2L * RINGS * bytes);
        }
    }

    static Stream<Arguments> lengthsAndPages() {
        return Stream.of(SHORT, LONG)
                .flatMap(bytes -> Stream.of(PAGE, 16 << 10, LARGEST_PAGE).map(page -> Arguments.of(bytes, page)));
    }

    @Test
    void whatAnotherHadBeforeIsEmpty() {
        int bytes = SHORT;
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
        int bytes = SHORT;
        long first = memory.take(bytes);
        memory.giveBack(first);
        long other = memory.take(LONG);

        assertThat(memory.take(bytes)).isEqualTo(first);
        assertThat(other).isNotEqualTo(first);
    }

    @Test
    void aRingThatComesAndGoesBesideFullPagesKeepsItsOwn() {
        int bytes = SHORT;
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

    @ParameterizedTest
    @ValueSource(ints = {PAGE, LARGEST_PAGE})
    void pagesWithoutRingsAreFreed(int page) {
        int bytes = SHORT;
        long idle = ProcessResources.now().nativeBytes();
        List<Long> rings = new ArrayList<>();
        try (ClearToSendMemory inPages = new ClearToSendMemory(page)) {
            for (int i = 0; i < 5_000; i++) {
                rings.add(inPages.take(bytes));
            }
            rings.forEach(inPages::giveBack);

            assertThat(ProcessResources.now().nativeBytes()).isLessThan(idle + (1 << 20));
        }
    }
}
