package trigon.testsupport.verbs;

import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * One completion, copied out for assertions.
 *
 * @param immediate the peer's immediate, or 0 without one
 */
public record Completion(
        long workRequestId,
        WorkCompletionStatus status,
        int opcode,
        int byteLength,
        boolean hasImmediate,
        int immediate,
        int queuePairNumber) {

    /** The completion at {@code index} of a polled batch. */
    public static Completion of(WorkCompletions batch, int index) {
        boolean hasImmediate = batch.hasImmediate(index);
        return new Completion(
                batch.workRequestId(index),
                WorkCompletionStatus.ofCode(batch.statusCode(index)),
                batch.opcode(index),
                batch.byteLength(index),
                hasImmediate,
                hasImmediate ? batch.immediate(index) : 0,
                batch.queuePairNumber(index));
    }
}
