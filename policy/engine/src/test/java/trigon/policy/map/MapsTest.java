package trigon.policy.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.policy.map.MapSpec.MapType;
import trigon.system.Memory;

/** Maps keep what they are given, refuse what they cannot keep, and survive several threads. */
class MapsTest {

    private static PolicyMap map(MapType type, int key, int value, int entries) throws MapException {
        return new MapSet()
                .bind(List.of(MapSpec.of("m", type, key, value, entries)))
                .getFirst();
    }

    private static byte[] u32(int value) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }

    private static byte[] u64(long value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }

    @ParameterizedTest
    @CsvSource({
        "HASH, 0, 8, 1, keys of 1 to 512",
        "HASH, 8, 0, 1, values of at least",
        "ARRAY, 8, 8, 1, keys of 4",
        "ARRAY, 4, 8, 0, max_entries",
        "ARRAY, 4, 1000000, 1000, at most",
        "THREAD_ARRAY, 4, 2147483647, 2147483647, at most",
        "RING_BUFFER, 0, 0, 5000, power of two",
        "RING_BUFFER, 4, 0, 4096, neither",
    })
    void whatNoMapCanBeIsRefused(MapType type, int key, int value, int entries, String reason) {
        MapException refused = catchThrowableOfType(MapException.class, () -> map(type, key, value, entries));
        assertThat(refused).hasMessageContaining("map m").hasMessageContaining(reason);
    }

    @Test
    void mapsOfAnObjectHaveALimitTogether() {
        List<MapSpec> specs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            specs.add(MapSpec.of("m" + i, MapType.ARRAY, 4, 1024, 1024));
        }
        MapSet maps = new MapSet();
        assertThat(catchThrowableOfType(MapException.class, () -> maps.bind(specs)))
                .hasMessageContaining("5242880 bytes in all");
        assertThat(maps.all()).isEmpty();
    }

    @Test
    void smallThreadArraysCountAsWhatTheyTake() throws Exception {
        List<MapSpec> specs = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            specs.add(MapSpec.of("m" + i, MapType.THREAD_ARRAY, 4, 8, 1));
        }
        assertThat(new MapSet().bind(specs)).hasSize(100);
        for (int entries : new int[] {1, 9, 1000, 40_000, 500_000}) {
            MapSpec spec = MapSpec.of("m", MapType.THREAD_ARRAY, 4, 8, entries);
            PolicyMap map = new MapSet().bind(List.of(spec)).getFirst();
            assertThat(map.memory().byteSize()).isLessThanOrEqualTo(2 * spec.memoryBytes());
        }
    }

    /** Jobs have dozens of communicators, each with its maps, in a JVM with little direct memory. */
    @Test
    void mapsAreNotOfTheMemoryThatTheJvmLimits() throws Exception {
        List<MapSpec> largest = List.of(MapSpec.of("m", MapType.ARRAY, 4, 64, 65_536));
        List<PolicyMap> all = new ArrayList<>();
        long bytes = 0;
        while (bytes <= Runtime.getRuntime().maxMemory()) {
            PolicyMap map = new MapSet().bind(largest).getFirst();
            all.add(map);
            bytes += map.memory().byteSize();
        }
        assertThat(all).hasSizeGreaterThan(1);
    }

    @ParameterizedTest
    @EnumSource(names = "RING_BUFFER", mode = EnumSource.Mode.EXCLUDE)
    void aShadowIsLikeANewMapEachTime(MapType type) throws Exception {
        MapSet maps = new MapSet();
        PolicyMap map = maps.bind(List.of(MapSpec.of("m", type, 4, 65_536, 32))).getFirst();
        try (Arena arena = Arena.ofConfined()) {
            long key = arena.allocate(8, 8).address();
            long scratch = arena.allocate(8, 8).address();
            long value = arena.allocate(65_536, 8).fill((byte) 7).address();
            for (int round = 0; round < 3; round++) {
                maps.onShadows(List.of(map), () -> {
                    long before = map.lookup(key, -1, scratch);
                    assertThat(before == 0 || Memory.getLong(before) == 0).isTrue();
                    assertThat(map.update(key, value, PolicyMap.ANY, -1, scratch))
                            .isZero();
                    assertThat(Memory.getByte(map.lookup(key, -1, scratch))).isEqualTo((byte) 7);
                });
            }
            long own = map.lookup(key, 0, scratch);
            assertThat(own == 0 || Memory.getLong(own) == 0)
                    .as("of the map itself")
                    .isTrue();
        }
    }

    @Test
    void theShadowOfABufferIsEmptyEachTime() throws Exception {
        MapSet maps = new MapSet();
        RingBuffer map = (RingBuffer) maps.bind(List.of(MapSpec.of("m", MapType.RING_BUFFER, 0, 0, 1 << 18)))
                .getFirst();
        try (Arena arena = Arena.ofConfined()) {
            long value = arena.allocate(1 << 17, 8).address();
            for (int round = 0; round < 3; round++) {
                maps.onShadows(
                        List.of(map),
                        () -> assertThat(map.output(value, 1 << 17, 0, -1)).isZero());
            }
        }
    }

    @Test
    void aLackOfMemoryRefusesTheMap() {
        assertThat(catchThrowableOfType(MapException.class, () -> Native.allocate(1L << 50)))
                .hasMessageContaining("no memory for a map");
    }

    @Test
    void hashMapsDoWhatJavasDo() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        MapAccess map = new MapAccess(map(MapType.HASH, 12, 8, 50));
        java.util.Map<Integer, Long> expected = new java.util.HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            int number = random.nextInt(80);
            byte[] key = ByteBuffer.allocate(12).putInt(8, number).array();
            if (random.nextInt(3) == 0) {
                assertThat(map.remove(key)).isEqualTo(expected.remove(number) != null);
            } else if (expected.size() < 50 || expected.containsKey(number)) {
                map.put(key, u64(i));
                expected.put(number, (long) i);
            } else {
                assertThat(catchThrowableOfType(MapException.class, () -> map.put(key, u64(1))))
                        .hasMessageContaining("errno 7");
            }
            Long value = expected.get(number);
            assertThat(map.get(key)
                            .map(bytes -> ByteBuffer.wrap(bytes)
                                    .order(ByteOrder.LITTLE_ENDIAN)
                                    .getLong()))
                    .isEqualTo(java.util.Optional.ofNullable(value));
        }
        assertThat(map.keys()).hasSize(expected.size());
    }

    @Test
    void whatWasUsedStaysInALruMap() throws Exception {
        PolicyMap map = map(MapType.LRU_HASH, 4, 8, 8);
        MapAccess access = new MapAccess(map);
        access.put(u32(-1), u64(1));
        try (Arena arena = Arena.ofConfined()) {
            long used = arena.allocateFrom(ValueLayout.JAVA_INT, -1).address();
            for (int i = 0; i < 1000; i++) {
                access.put(u32(i), u64(i));
                assertThat(map.lookup(used, 0, used)).isNotZero();
            }
        }
        assertThat(access.keys()).hasSize(8);
    }

    /** It reads at any moment, another one on each rank: what a map drops must not depend on that. */
    @Test
    void whatTheHostReadsIsNotUsed() throws Exception {
        MapAccess map = new MapAccess(map(MapType.LRU_HASH, 4, 8, 2));
        map.put(u32(1), u64(1));
        map.put(u32(2), u64(2));
        assertThat(map.get(u32(1))).isPresent();
        assertThat(map.getAll(u32(1))).hasSize(1);
        byte[] first = map.keys().getFirst();
        assertThat(map.get(first)).isPresent();
        map.put(u32(3), u64(3));
        assertThat(map.get(first)).as("it was not looked up by a program").isEmpty();
    }

    @Test
    void layoutsHaveToFit() throws Exception {
        MapSet maps = new MapSet();
        MapSpec spec = MapSpec.of("m", MapType.HASH, 4, 8, 16);
        PolicyMap first = maps.bind(List.of(spec)).getFirst();
        assertThat(maps.bind(List.of(spec)).getFirst()).isSameAs(first);
        MapSpec other = MapSpec.of("m", MapType.HASH, 4, 16, 16);
        assertThat(catchThrowableOfType(
                        MapException.class, () -> maps.bind(List.of(MapSpec.of("new", MapType.ARRAY, 4, 8, 1), other))))
                .hasMessageContaining("exists as");
        assertThat(maps.all()).hasSize(1);
    }

    @Test
    void mapsOfVersionsLongAgoAreForgotten() throws Exception {
        MapSet maps = new MapSet();
        List<MapSpec> others = List.of(MapSpec.of("v0", MapType.ARRAY, 4, 8, 1));
        maps.bind(others);
        maps.keep("other", "other", others);
        for (int version = 0; version < 100; version++) {
            List<MapSpec> specs = List.of(
                    MapSpec.of("all", MapType.ARRAY, 4, 8, 1), MapSpec.of("v" + version, MapType.ARRAY, 4, 8, 1));
            maps.bind(specs);
            maps.keep("p", "p", specs);
        }
        assertThat(maps.all())
                .extracting(map -> map.spec().name())
                .as("of the last version, the one before, and another object")
                .containsExactlyInAnyOrder("all", "v98", "v99", "v0");
    }

    @Test
    void theShadowIsAnotherMap() throws Exception {
        for (MapType type : List.of(MapType.ARRAY, MapType.HASH, MapType.LRU_HASH, MapType.THREAD_ARRAY)) {
            PolicyMap map = map(type, 4, 8, 4);
            map.resetShadow();
            try (Arena arena = Arena.ofConfined()) {
                long key = arena.allocate(8, 8).address();
                long value = arena.allocateFrom(ValueLayout.JAVA_LONG, 5).address();
                assertThat(map.update(key, value, PolicyMap.ANY, -1, key)).isZero();
                assertThat(Memory.getLong(map.lookup(key, -1, key))).isEqualTo(5);
                long own = map.lookup(key, 0, key);
                assertThat(own == 0 || Memory.getLong(own) == 0).isTrue();
            }
        }
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void recordsOfSeveralThreadsComeWholeAndOnce() throws Exception {
        RingBuffer ring = (RingBuffer) map(MapType.RING_BUFFER, 0, 0, 4096);
        int threads = 3;
        int records = 20_000;
        AtomicInteger written = new AtomicInteger();
        List<Thread> writers = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            writers.add(Thread.ofPlatform().start(() -> write(ring, records, written)));
        }
        List<byte[]> read = new ArrayList<>();
        while (writers.stream().anyMatch(Thread::isAlive)) {
            ring.poll(read::add, 100);
        }
        while (ring.poll(read::add, 100) > 0) {
            // what they left
        }
        assertThat(read).hasSize(written.get());
        assertThat(written.get() + ring.dropped()).isEqualTo((long) threads * records);
        assertThat(read).allSatisfy(record -> {
            for (byte b : record) {
                assertThat(b).isEqualTo((byte) record.length);
            }
        });
    }

    private static void write(RingBuffer ring, int records, AtomicInteger written) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(100, 8);
            for (int i = 0; i < records; i++) {
                int length = 1 + i % 100;
                record.fill((byte) length);
                if (ring.output(record.address(), length, 0, 0) == 0) {
                    written.incrementAndGet();
                }
            }
        }
    }

    /**
     * Each value says which key it belongs to: a reader may miss a key that comes and goes, but not see another's
     * value.
     */
    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void readersOfAHashMapTakeNoLock() throws Exception {
        PolicyMap map = map(MapType.HASH, 4, 8, 32);
        AtomicBoolean stop = new AtomicBoolean();
        MapAccess access = new MapAccess(map);
        access.put(u32(100), u64(100)); // beside another writer it may be refused (EBUSY)
        FutureTask<Integer> writing = new FutureTask<>(() -> {
            MapAccess writer = new MapAccess(map);
            Random random = new Random(1);
            int written = 0;
            while (!stop.get()) {
                int key = 1 + random.nextInt(16);
                writer.put(u32(key), u64(key));
                writer.remove(u32(1 + random.nextInt(16)));
                written++;
            }
            return written;
        });
        Thread.ofPlatform().start(writing);
        for (int i = 0; i < 200_000; i++) {
            assertThat(access.get(u32(100)))
                    .hasValueSatisfying(value -> assertThat(value).isEqualTo(u64(100)));
        }
        stop.set(true);
        assertThat(writing.get(120, TimeUnit.SECONDS)).isPositive();
    }
}
