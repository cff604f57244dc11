package trigon.transport.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;
import trigon.transport.handle.HandleTable;
import trigon.verbs.MemoryRegion;

class MemoryTableTest {

    private static final long SESSION = 3L << 48;
    private static final long FIRST = 1L << 48 | 70L << 32;
    private static final long NEXT_IN_SLOT = 2L << 48 | 70L << 32;

    private record Region(long address, long length, int localKey, int remoteKey) implements MemoryRegion {
        @Override
        public void close() {
            // nothing is registered
        }
    }

    private final Arena arena = Arena.ofShared();
    private final long addresses = arena.allocate((long) HandleTable.MAX_SLOTS * Long.BYTES, Long.BYTES)
            .address();
    private final MemoryTable table = new MemoryTable(addresses);

    @AfterEach
    void close() {
        table.close();
        arena.close();
    }

    private long shown() {
        long entry = Memory.getLong(addresses + 70L * Long.BYTES);
        return entry == 0 ? 0 : Memory.getLong(entry);
    }

    @Test
    void showsMemoryUntilItIsNotRegisteredAnyMore() {
        assertThat(shown()).isZero();
        table.add(FIRST, SESSION, new Region(4096, 100, 5, 6), false);

        assertThat(shown()).isEqualTo(FIRST);
        assertThat(table.key(FIRST, false)).isEqualTo(5);
        assertThat(table.key(FIRST, true)).isEqualTo(6);
        table.setKeys(FIRST, 7, 8);
        assertThat(table.key(FIRST, true)).isEqualTo(8);
        table.remove(FIRST);
        assertThat(shown()).isZero();
        assertThat(table.key(FIRST, true)).isZero();
    }

    @Test
    void whatComesLateDoesNotTouchTheNextInTheSlot() {
        table.add(FIRST, SESSION, new Region(4096, 100, 5, 6), false);
        table.add(NEXT_IN_SLOT, SESSION, new Region(8192, 100, 9, 10), false);

        table.setKeys(FIRST, 7, 8);
        table.remove(FIRST);

        assertThat(shown()).isEqualTo(NEXT_IN_SLOT);
        assertThat(table.key(NEXT_IN_SLOT, false)).isEqualTo(9);
        assertThat(table.key(FIRST, false)).isZero();
    }

    @Test
    void knowsNothingOfHandlesThatItHasNotSeen() {
        assertThat(table.key(0, false)).isZero();
        assertThat(table.key(9L << 48 | 999L << 32, false)).isZero();
    }
}
