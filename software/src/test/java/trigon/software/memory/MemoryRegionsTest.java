package trigon.software.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import trigon.testsupport.Seed;
import trigon.verbs.AccessFlag;

class MemoryRegionsTest {

    private static final int STEPS = 3000;
    private static final int ALL = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_READ.bit();

    private final TestDomain domain = new TestDomain();
    private final MemoryRegions regions = new MemoryRegions();

    /** Among keys that meet in the table, too: the last bits of most of them are the same. */
    @Test
    void aTableFindsWhatWasPutIntoItAndNothingElse() {
        Random random = new Random(Seed.next());
        Map<Integer, SoftwareMemoryRegion> expected = new HashMap<>();
        RegionTable table = RegionTable.EMPTY;
        for (int i = 0; i < STEPS; i++) {
            int key = (random.nextInt(40) << 16) | random.nextInt(3);
            SoftwareMemoryRegion old = expected.remove(key);
            if (old == null) {
                SoftwareMemoryRegion added = TestDomain.region(1 << 20, 1);
                expected.put(key, added);
                RegionTable before = table;
                table = table.with(key, added);
                assertThat(before.get(key)).isNull();
            } else {
                table = table.without(old);
            }
            int other = (random.nextInt(40) << 16) | random.nextInt(3);
            assertThat(table.get(key)).isSameAs(expected.get(key));
            assertThat(table.get(other)).isSameAs(expected.get(other));
        }
        for (Map.Entry<Integer, SoftwareMemoryRegion> each : expected.entrySet()) {
            assertThat(table.get(each.getKey())).isSameAs(each.getValue());
        }
    }

    @Test
    void aRegionIsFoundByItsKeysUntilItIsRemoved() {
        List<SoftwareMemoryRegion> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(regions.add(domain, 4096L * (i + 1), 4096, ALL, _ -> {}));
        }
        for (SoftwareMemoryRegion region : all) {
            assertThat(local(region, 4096)).isSameAs(region);
            assertThat(remote(region, AccessFlag.REMOTE_READ)).isSameAs(region);
            assertThat(regions.remove(region)).isTrue();
            assertThat(regions.remove(region)).isFalse();
            assertThat(region.isOpen()).isFalse();
            assertThat(local(region, 4096)).isNull();
            assertThat(remote(region, AccessFlag.REMOTE_READ)).isNull();
        }
    }

    @Test
    void whatIsNotAllowedIsNotFound() {
        SoftwareMemoryRegion region = regions.add(domain, 4096, 4096, ALL, _ -> {});
        SoftwareMemoryRegion readOnly = regions.add(domain, 8192, 4096, 0, _ -> {});
        assertThat(local(region, 4097)).isNull();
        assertThat(local(readOnly, 4096)).isNull();
        assertThat(regions.local(domain, readOnly.localKey(), 8192, 4096, false))
                .isSameAs(readOnly);
        assertThat(regions.local(new TestDomain(), region.localKey(), 4096, 1, false))
                .isNull();
        assertThat(remote(region, AccessFlag.REMOTE_WRITE)).isNull();
        assertThat(remote(readOnly, AccessFlag.REMOTE_READ)).isNull();
    }

    private @Nullable SoftwareMemoryRegion local(SoftwareMemoryRegion region, long length) {
        return regions.local(domain, region.localKey(), region.address(), length, true);
    }

    private @Nullable SoftwareMemoryRegion remote(SoftwareMemoryRegion region, AccessFlag access) {
        return regions.remote(domain, region.remoteKey(), region.address(), region.length(), access);
    }
}
