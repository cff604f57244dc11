package trigon.transport.protocol;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;
import trigon.stress.NativeSlots;
import trigon.system.Memory;

/** A clear-to-send entry, written as the software device does it: who sees its sequence number sees the rest. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "not there yet")
@Outcome(id = "1, 4096, 77", expect = Expect.ACCEPTABLE, desc = "there, all of it")
@State
public class ClearToSendStress {

    private static final NativeSlots SLOTS = new NativeSlots(2 * ClearToSend.BYTES);

    private final long entry = SLOTS.take();
    private final long made = entry + ClearToSend.BYTES;

    public ClearToSendStress() {
        Memory.putLong(made + ClearToSend.ADDRESS, 4096);
        Memory.putInt(made + ClearToSend.remoteKey(0), 77);
        Memory.putLong(made + ClearToSend.SEQUENCE, 1);
    }

    @Actor
    public void device() {
        Memory.copy(made, entry, ClearToSend.SEQUENCE);
        Memory.putLongRelease(entry + ClearToSend.SEQUENCE, Memory.getLong(made + ClearToSend.SEQUENCE));
    }

    @Actor
    public void sender(JJJ_Result result) {
        if (Memory.getLongAcquire(entry + ClearToSend.SEQUENCE) == 1) {
            result.r1 = 1;
            result.r2 = Memory.getLong(entry + ClearToSend.ADDRESS);
            result.r3 = Memory.getInt(entry + ClearToSend.remoteKey(0));
        }
    }
}
