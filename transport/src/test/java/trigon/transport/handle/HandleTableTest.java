package trigon.transport.handle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

class HandleTableTest {

    private final HandleTable<String> table = new HandleTable<>("thing");

    @Test
    void findsWhatWasAdded() {
        long one = table.add("one");
        long two = table.add("two");

        assertThat(table.find(one)).isEqualTo("one");
        assertThat(table.find(two)).isEqualTo("two");
        assertThat(table.handles()).containsExactly(one, two);
    }

    @Test
    void handlesArePositiveAndLeaveTheLowerHalfFree() {
        for (int i = 0; i < 1000; i++) {
            long handle = table.add("thing " + i);
            assertThat(handle).isPositive();
            assertThat((int) handle).isZero();
            assertThat(table.find(handle | 0xFFFF_FFFFL)).isEqualTo("thing " + i);
        }
    }

    @Test
    void aStaleHandleFindsNothingThoughItsSlotIsInUse() {
        long stale = table.add("old");
        assertThat(table.remove(stale)).isEqualTo("old");
        long fresh = table.add("new");

        assertThat(table.find(stale)).isNull();
        assertThat(table.remove(stale)).isNull();
        assertThat(table.find(fresh)).isEqualTo("new");
    }

    @Test
    void aSlotIsNotUsedAgainBeforeWhatWasThereHasLeft() {
        long stale = table.add("old");
        List<Long> meanwhile = new ArrayList<>();

        table.remove(stale, removed -> {
            assertThat(removed).isEqualTo("old");
            assertThat(table.find(stale)).isNull();
            meanwhile.add(table.add("meanwhile"));
        });

        assertThat(HandleTable.slot(meanwhile.getFirst())).isNotEqualTo(HandleTable.slot(stale));
        assertThat(HandleTable.slot(table.add("after"))).isEqualTo(HandleTable.slot(stale));
        table.remove(stale, _ -> {
            throw new AssertionError("it is gone");
        });
    }

    @Test
    void aSlotIsUsedAgainThoughItsLastLeaveFailed() {
        long handle = table.add("thing");

        assertThatThrownBy(() -> table.remove(handle, _ -> {
                    throw new IllegalStateException("no leave");
                }))
                .hasMessage("no leave");

        assertThat(table.find(handle)).isNull();
        assertThat(HandleTable.slot(table.add("next"))).isEqualTo(HandleTable.slot(handle));
    }

    @Test
    void madeUpHandlesFindNothing() {
        table.add("thing");
        Random random = new Random(20251120);
        for (int i = 0; i < 10_000; i++) {
            long handle = random.nextLong();
            if (handle >>> 32 != 1L << 16) {
                assertThat(table.find(handle)).as("handle 0x%x", handle).isNull();
            }
        }
        assertThat(table.find(0)).isNull();
        assertThat(table.find(-1)).isNull();
    }

    @Test
    void keepsEveryHandleApartWhileSlotsAreReused() {
        long seed = 42;
        Random random = new Random(seed);
        Map<Long, String> live = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            if (live.size() < 100 || random.nextBoolean()) {
                String thing = "thing " + i;
                assertThat(live.put(table.add(thing), thing))
                        .as("seed %d", seed)
                        .isNull();
            } else {
                long handle = live.keySet().iterator().next();
                assertThat(table.remove(handle)).isEqualTo(live.remove(handle));
            }
        }
        live.forEach((handle, thing) -> assertThat(table.find(handle)).isEqualTo(thing));
    }

    @Test
    void knowsItsHandleBeforeItIsFound() {
        long handle = table.add(given -> {
            assertThat(table.find(given)).isNull();
            return "thing";
        });

        assertThat(table.find(handle)).isEqualTo("thing");
    }

    @Test
    void whatCannotBeMadeIsNotAdded() {
        assertThatThrownBy(() -> table.add((LongFunction<String>) _ -> {
                    throw new IllegalStateException("no room");
                }))
                .hasMessage("no room");

        assertThat(table.handles()).isEmpty();
        assertThat(table.find(table.add("next"))).isEqualTo("next");
    }
}
