package trigon.onesided;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.onesided.group.Traffic;
import trigon.testsupport.AllocationAssert;

/** Puts and gets allocate nothing. Of a rank at itself: between ranks, the simulated transport would. */
@Timeout(120)
class OneSidedAllocationTest extends SimulatedRanks {

    private static final int BYTES = 64;
    private static final int CALLS = 100_000;

    @Test
    void aPutAllocatesNothing() throws Exception {
        connect(1, 1, 100, false);
        Rank only = ranks.getFirst();

        AllocationAssert.assertZeroAllocation(
                () -> {
                    Traffic traffic = only.traffic();
                    done(traffic, put(only, 0, BYTES, 0, OneSided.ADD));
                },
                CALLS);
    }

    @Test
    void aGetAllocatesNothing() throws Exception {
        connect(1, 1, 100, false);
        Rank only = ranks.getFirst();

        AllocationAssert.assertZeroAllocation(
                () -> {
                    Traffic traffic = only.traffic();
                    done(traffic, only.get(0, BYTES, BYTES, 0));
                    done(traffic, traffic.flush());
                },
                CALLS);
    }

    private static void done(Traffic traffic, long request) {
        if (traffic.test(request) != 1) {
            throw new AssertionError("request 0x%x is not done".formatted(request));
        }
    }
}
