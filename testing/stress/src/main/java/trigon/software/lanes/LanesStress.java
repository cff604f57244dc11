package trigon.software.lanes;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import trigon.software.queue.ReceiveQueue;
import trigon.stress.NativeSlots;
import trigon.system.Memory;

/** What lane workers pass to each other and to who polls. */
public class LanesStress {

    /** A worker that sends on a lane sees how far the one before it has come. */
    @JCStressTest
    @Outcome(id = "1, 1, 2", expect = Expect.ACCEPTABLE, desc = "one after the other")
    @Outcome(
            id = {"1, 0, 1", "0, 1, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "at the same time: one of them")
    @State
    public static class Ownership {
        private final LaneOwnership ownership = new LaneOwnership();
        private int sent;

        private int send() {
            if (!ownership.tryAcquire()) {
                return 0;
            }
            sent++;
            ownership.release();
            return 1;
        }

        @Actor
        public void one(III_Result result) {
            result.r1 = send();
        }

        @Actor
        public void other(III_Result result) {
            result.r2 = send();
        }

        @Arbiter
        public void after(III_Result result) {
            result.r3 = sent;
        }
    }

    /** Nobody is on a lane once it is retired: its socket and its memory are closed then. */
    @JCStressTest
    @Outcome(
            id = {"1, 1, 0", "0, 0, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "before it was retired, or not at all")
    @State
    public static class Retirement {
        private final LaneOwnership ownership = new LaneOwnership();
        private int sent;

        @Actor
        public void worker(III_Result result) {
            if (ownership.tryAcquire()) {
                sent = 1;
                result.r1 = 1;
                ownership.release();
            }
        }

        @Actor
        public void closer(III_Result result) {
            ownership.retire();
            result.r2 = sent;
            result.r3 = ownership.tryAcquire() ? 1 : 0;
        }
    }

    /** Whoever polls finds a message that came in pieces with all that it is, and its payload in memory. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "not all there yet")
    @Outcome(id = "1, 60, 42", expect = Expect.ACCEPTABLE, desc = "there, all of it")
    @State
    public static class Pieces {
        private static final NativeSlots SLOTS = new NativeSlots(Long.BYTES);

        private final ReceiveQueue receives = new ReceiveQueue(1);
        private final IncomingPieces pieces = new IncomingPieces(receives);
        private final long payload = SLOTS.take();

        public Pieces() {
            int _ = receives.offer(1, payload, Long.BYTES, 0);
            boolean _ = pieces.add(0, 10, 12, 30, 1, Long.BYTES);
        }

        @Actor
        public void worker() {
            Memory.putLong(payload, 42);
            boolean _ = pieces.add(0, 10, 12, 30, Long.BYTES - 1, Long.BYTES);
        }

        @Actor
        public void poller(III_Result result) {
            if (pieces.isDone(0)) {
                result.r1 = 1;
                result.r2 = pieces.opcode(0) + pieces.psn(0) + pieces.immediate(0) + pieces.length(0);
                result.r3 = (int) Memory.getLong(payload);
            }
        }
    }
}
