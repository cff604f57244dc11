package trigon.software.queue;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import trigon.verbs.WorkCompletions;

/** The rings between who posts, who moves data, and who polls. */
public class QueueStress {

    /** For the thread that polls. */
    private static final ThreadLocal<WorkCompletions> COMPLETIONS =
            ThreadLocal.withInitial(() -> new WorkCompletions(4));

    private static void complete(CompletionRing ring, int number) {
        boolean _ = ring.offer(number, 0, number, number, number, 0, number);
    }

    /** The fields of a completion, each of which is its number. */
    private static int sum(WorkCompletions completions, int index) {
        return (int) completions.workRequestId(index)
                + completions.opcode(index)
                + completions.immediate(index)
                + completions.queuePairNumber(index);
    }

    /** Whoever polls takes whole completions. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "1, 12", expect = Expect.ACCEPTABLE, desc = "there, all of it")
    @State
    public static class Completion {
        private final CompletionRing ring = new CompletionRing(1);

        public Completion() {
            complete(ring, 9); // the slot has been used before
            int _ = ring.drain(COMPLETIONS.get());
        }

        @Actor
        public void mover() {
            complete(ring, 3);
        }

        @Actor
        public void poller(II_Result result) {
            WorkCompletions into = COMPLETIONS.get();
            result.r1 = ring.drain(into);
            result.r2 = result.r1 == 0 ? 0 : sum(into, 0);
        }
    }

    /** Two who move data do not overwrite each other's completions. */
    @JCStressTest
    @Outcome(id = "2, 12", expect = Expect.ACCEPTABLE, desc = "both are there")
    @State
    public static class Completions {
        private final CompletionRing ring = new CompletionRing(2);

        @Actor
        public void one() {
            complete(ring, 1);
        }

        @Actor
        public void other() {
            complete(ring, 2);
        }

        @Arbiter
        public void poller(II_Result result) {
            WorkCompletions into = COMPLETIONS.get();
            result.r1 = ring.drain(into);
            for (int i = 0; i < result.r1; i++) {
                result.r2 += sum(into, i);
            }
        }
    }

    /** Whoever moves data sees whole requests, and the next one only when he has let go of the slot. */
    @JCStressTest
    @Outcome(id = "0, 5, 12", expect = Expect.ACCEPTABLE, desc = "the slot was free again")
    @Outcome(id = "12, 5, 0", expect = Expect.ACCEPTABLE, desc = "it was not: ENOMEM")
    @State
    public static class Sends {
        private final SendQueue queue = new SendQueue(1, 0);

        public Sends() {
            int _ = queue.offer(0, 5, 0, 0, 0, 0, 0, 0, 0);
        }

        @Actor
        public void poster(III_Result result) {
            result.r1 = queue.offer(0, 12, 0, 0, 0, 0, 0, 0, 0);
        }

        @Actor
        public void mover(III_Result result) {
            result.r2 = (int) queue.workRequestId(0);
            queue.release(1);
        }

        @Arbiter
        public void later(III_Result result) {
            result.r3 = queue.tail() == 2 ? (int) queue.workRequestId(1) : 0;
        }
    }

    /** Whoever sees that a receive is posted sees where to put the message. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "1, 4103", expect = Expect.ACCEPTABLE, desc = "there, all of it")
    @State
    public static class Receives {
        private final ReceiveQueue queue = new ReceiveQueue(2);

        @Actor
        public void poster() {
            int _ = queue.offer(1, 4096, 7, 0);
        }

        @Actor
        public void worker(II_Result result) {
            if (!queue.isEmpty()) {
                result.r1 = 1;
                result.r2 = (int) queue.localAddress() + queue.length();
            }
        }
    }
}
