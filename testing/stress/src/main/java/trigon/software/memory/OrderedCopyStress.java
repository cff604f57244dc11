package trigon.software.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import trigon.stress.NativeSlots;
import trigon.system.Memory;

/** NCCL polls the memory that a message goes to: no flag of LL128 before the line that it announces. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not there yet")
@Outcome(id = "1, 15", expect = Expect.ACCEPTABLE, desc = "there, the whole line")
@State
public class OrderedCopyStress {

    private static final int BYTES = 2 * OrderedCopy.LINE; // copied as a block
    private static final NativeSlots SLOTS = new NativeSlots(2 * BYTES);

    private final long destination = SLOTS.take();
    private final long source = destination + BYTES;
    private final OrderedCopy copy = new OrderedCopy();

    public OrderedCopyStress() {
        for (int at = 0; at < BYTES; at += Long.BYTES) {
            Memory.putLong(source + at, 1);
        }
    }

    @Actor
    public void device() {
        copy.start(destination, BYTES);
        copy.accept(source, BYTES);
    }

    @Actor
    public void poller(II_Result result) {
        long flag = destination + OrderedCopy.LINE - Long.BYTES;
        if (Memory.getLongAcquire(flag) == 1) {
            result.r1 = 1;
            for (long at = destination; at < flag; at += Long.BYTES) {
                result.r2 += (int) Memory.getLong(at);
            }
        }
    }
}
