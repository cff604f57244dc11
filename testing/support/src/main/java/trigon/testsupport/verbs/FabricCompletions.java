package trigon.testsupport.verbs;

import java.util.SplittableRandom;
import trigon.system.Memory;
import trigon.verbs.CompletionQueue;
import trigon.verbs.ResourceLedger;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** The completions of a {@link SendFabric}, which may show some of them late. Posting and polling allocate nothing. */
final class FabricCompletions implements CompletionQueue {

    private static final int ROOM = 1024;

    private final WorkCompletions done = new WorkCompletions(ROOM);
    private final SendFabric fabric;
    private int first;
    private int count;
    private boolean closed;

    FabricCompletions(SendFabric fabric) {
        this.fabric = fabric;
    }

    void add(long id, WorkCompletionStatus status, int opcode, int bytes, int immediate, int flags) {
        if (count == ROOM) {
            throw new AssertionError("nobody polls");
        }
        done.set((first + count) % ROOM, id, status.code(), opcode, bytes, immediate, flags, 0);
        count++;
    }

    @Override
    public int poll(WorkCompletions into) {
        synchronized (fabric) {
            SplittableRandom random = fabric.late();
            int taken = Math.min(count, random == null ? into.capacity() : random.nextInt(3));
            for (int i = 0; i < taken; i++) {
                long from = done.address() + (long) first * WorkCompletions.STRIDE;
                Memory.copy(from, into.address() + (long) i * WorkCompletions.STRIDE, WorkCompletions.STRIDE);
                first = (first + 1) % ROOM;
            }
            count -= taken;
            return taken;
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            done.close();
            fabric.ledger().closed(ResourceLedger.Kind.COMPLETION_QUEUE);
        }
    }
}
