package trigon.software.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PayloadWindowsTest {

    @Test
    void addressesRegionsThatNoBufferCovers() {
        long length = (3L << 30) + 100;
        long start = 1L << 40; // never touched
        SoftwareMemoryRegion region = TestDomain.region(start, length);
        PayloadWindows windows = new PayloadWindows();
        assertThat(windows.of(region, start, 10).remaining()).isEqualTo(10);
        assertThat(windows.of(region, start + (1L << 30) - 1, 1 << 20).position())
                .isEqualTo((1 << 30) - 1);
        assertThat(windows.of(region, start + (2L << 30) + 5, 7).position()).isEqualTo(5);
        assertThat(windows.of(region, start + length - 100, 100).remaining()).isEqualTo(100);
        assertThat(windows.of(region, start, 10)).isSameAs(windows.of(region, start + 7, 20));
    }

    @Test
    void aRegionContainsItsBytesAndNoOthers() {
        long length = (3L << 30) + 100;
        long start = 1L << 40;
        SoftwareMemoryRegion region = TestDomain.region(start, length);
        assertThat(region.contains(start, length)).isTrue();
        assertThat(region.contains(start, length + 1)).isFalse();
        assertThat(region.contains(start - 1, 1)).isFalse();
        assertThat(region.contains(start + length, 0)).isTrue();
        assertThat(region.contains(Long.MIN_VALUE, 1)).isFalse();
        assertThat(region.contains(-1, Long.MAX_VALUE)).isFalse();
    }
}
