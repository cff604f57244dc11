package trigon.policy.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.policy.Code;
import trigon.policy.ProgramContext;
import trigon.policy.compile.Compiler;
import trigon.policy.compile.PolicyCode;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;
import trigon.system.Memory;

/**
 * Programs on several threads work on the same maps, with keys that lie in the value of a map, where another thread
 * changes them at the same time. Whatever they do to each other's data, the maps stay whole. {@code
 * -Dtrigon.policy.race.seconds} says for how long.
 */
class MapRaceTest {

    private static final long SECONDS = Long.getLong("trigon.policy.race.seconds", 1);
    private static final int ROUNDS = 4;
    private static final int KEY_BYTES = 72;
    private static final int VALUE_BYTES = 80;
    private static final int DIFFERENT_KEYS = 200;
    private static final int ENTRIES = 64;

    private final MapSet set = new MapSet();

    private List<PolicyMap> maps() throws MapException {
        return set.bind(List.of(
                MapSpec.of("hash", MapType.HASH, KEY_BYTES, VALUE_BYTES, ENTRIES),
                MapSpec.of("lru", MapType.LRU_HASH, KEY_BYTES, VALUE_BYTES, ENTRIES),
                MapSpec.of("array", MapType.ARRAY, 4, VALUE_BYTES, ENTRIES),
                MapSpec.of("threads", MapType.THREAD_ARRAY, 4, VALUE_BYTES, ENTRIES),
                MapSpec.of("ring", MapType.RING_BUFFER, 0, 0, 4096),
                MapSpec.of("keys", MapType.ARRAY, 4, VALUE_BYTES, 1)));
    }

    /** Updates and looks up the map of that index by what is in the last one; the value is the key, too. */
    private static PolicyCode program(int map, List<PolicyMap> maps) throws Exception {
        Code code = new Code()
                .slot(0x62, 10, 0, -4, 0)
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -4)
                .map(1, maps.size() - 1)
                .call(1)
                .slot(0x55, 0, 0, 1, 0)
                .exit()
                .move(6, 0)
                .move(2, 6)
                .move(3, 6)
                .set(4, 0)
                .map(1, map)
                .call(2)
                .move(2, 6)
                .map(1, map)
                .call(1)
                .set(0, 0)
                .exit();
        List<MapSpec> specs = maps.stream().map(PolicyMap::spec).toList();
        VerifiedProgram verified = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.REFUSED)
                .verify(Code.object("profiler", specs, code.slots()), 0);
        return Compiler.compile(verified, maps, verified.worstCase());
    }

    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void mapsStayWholeWhileKeysChange() throws Exception {
        long seed = Long.getLong("trigon.policy.seed", System.nanoTime());
        System.out.println("seed " + seed);
        for (int round = 0; round < ROUNDS; round++) {
            for (PolicyMap each : set.all()) {
                set.remove(each.spec().name());
            }
            List<PolicyMap> maps = maps();
            race(maps, seed + round);
            assertWhole((HashMap) maps.get(0), ENTRIES);
            assertWhole((HashMap) maps.get(1), ENTRIES);
        }
    }

    private static void race(List<PolicyMap> maps, long seed) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        long keys = maps.getLast().memory().address();
        List<FutureTask<Void>> tasks = new ArrayList<>();
        tasks.add(new FutureTask<>(() -> change(keys, new Random(seed), stop), null));
        tasks.add(new FutureTask<>(() -> work(maps, keys, new Random(seed + 1), stop), null));
        tasks.add(new FutureTask<>(() -> work(maps, keys, new Random(seed + 2), stop), null));
        PolicyCode code = program(1, maps);
        tasks.add(new FutureTask<>(() -> run(code, stop), null));
        tasks.forEach(task -> Thread.ofPlatform().start(task));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS) / ROUNDS;
        RingBuffer ring = (RingBuffer) maps.get(4);
        while (System.nanoTime() - end < 0) {
            ring.poll(record -> assertThat(record).hasSizeLessThanOrEqualTo(KEY_BYTES), 100);
        }
        stop.set(true);
        for (FutureTask<Void> task : tasks) {
            task.get(60, TimeUnit.SECONDS);
        }
    }

    /** The first bytes are an index for arrays; the last ones change most often, and make the hash another one. */
    private static void change(long keys, Random random, AtomicBoolean stop) {
        while (!stop.get()) {
            Memory.putLong(keys, random.nextInt(ENTRIES));
            for (int i = 0; i < 100; i++) {
                Memory.putLong(keys + KEY_BYTES - 8, random.nextInt(DIFFERENT_KEYS));
            }
        }
    }

    private static void work(List<PolicyMap> maps, long key, Random random, AtomicBoolean stop) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(VALUE_BYTES, 8);
            long own = arena.allocate(KEY_BYTES, 8).address();
            while (!stop.get()) {
                PolicyMap map = maps.get(random.nextInt(maps.size() - 1));
                if (map instanceof RingBuffer ring) {
                    ring.output(key, 1 + random.nextInt(KEY_BYTES), 0, 0);
                    continue;
                }
                switch (random.nextInt(4)) {
                    case 0 -> map.delete(key, 0, own);
                    case 1 -> {
                        long found = map.lookup(key, 0, own);
                        if (found != 0) {
                            // a key within a value, of this map itself
                            map.update(found, found, PolicyMap.ANY, 0, own);
                            Memory.putLong(found, random.nextLong());
                        }
                    }
                    default -> map.update(key, value.address(), random.nextInt(3), 0, own);
                }
            }
        }
    }

    private static void run(PolicyCode code, AtomicBoolean stop) {
        try (ProgramContext context = new ProgramContext(ProgramType.PROFILER)) {
            long stackTop =
                    context.address() + ProgramContext.bytes(ProgramType.PROFILER) - PolicyCode.BELOW_STACK_BYTES;
            while (!stop.get()) {
                code.run(context.address(), stackTop, 0);
            }
        }
    }

    /** Each key is found, and there is room for as many entries as declared, once no one else is at it. */
    private static void assertWhole(HashMap map, int entries) throws MapException {
        MapAccess access = new MapAccess(map);
        Set<List<Byte>> different = new HashSet<>();
        for (byte[] key : access.keys()) {
            assertThat(access.get(key)).as("a key that is there is found").isPresent();
            List<Byte> boxed = new ArrayList<>();
            for (byte each : key) {
                boxed.add(each);
            }
            assertThat(different.add(boxed)).as("a key is there once").isTrue();
            assertThat(access.remove(key)).isTrue();
            assertThat(access.get(key)).isEmpty();
        }
        assertThat(access.keys()).isEmpty();
        for (int i = 0; i < entries; i++) {
            access.put(key(i), new byte[VALUE_BYTES]);
        }
        assertThat(access.keys()).hasSize(entries);
        if (map.evicts()) {
            access.put(key(entries), new byte[VALUE_BYTES]);
            assertThat(access.keys()).hasSize(entries);
        } else {
            assertThat(catchThrowableOfType(MapException.class, () -> access.put(key(entries), new byte[VALUE_BYTES])))
                    .hasMessageContaining("errno 7");
        }
    }

    private static byte[] key(int number) {
        byte[] key = new byte[KEY_BYTES];
        key[20] = (byte) number;
        return key;
    }
}
