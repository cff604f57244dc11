package trigon.software.requester;

import trigon.software.queue.SendQueue;
import trigon.software.wire.WireFormat;
import trigon.verbs.SendFlag;

/**
 * A requester's progress with its send queue. Requests lie in the order {@code head <= next <= tail}: below {@code
 * next} they have been begun, and from {@code head} on they are not complete. Each has the PSN of its place. Used
 * under the queue pair's lock.
 */
final class OutstandingRequests {

    private final SendQueue queue;

    private long head;
    private long next;
    /** Below it, the peer has acknowledged; those that completed before may be behind it. */
    private long acknowledged;
    /** The request that has {@code firstPsn}. */
    private long base;

    private int firstPsn;

    // of those that have been begun and are not complete
    private int answers;
    private int signaled;

    private boolean keptByKernel = true;

    OutstandingRequests(SendQueue queue) {
        this.queue = queue;
    }

    /**
     * Sets whether the kernel delivers what was sent though this process ends. Else a request is complete when its peer
     * has it, whatever it asks for. Said before one is begun.
     */
    void setKeptByKernel(boolean kept) {
        keptByKernel = kept;
    }

    /** The next request has that PSN. */
    void start(int sendPsn) {
        firstPsn = sendPsn;
    }

    /** Forgets everything that is in the queue. */
    void reset() {
        head = queue.tail();
        next = head;
        base = head;
        acknowledged = head;
        queue.release(head);
        answers = 0;
        signaled = 0;
    }

    /** The oldest request that is not complete, if there is one. */
    long head() {
        return head;
    }

    /** The request that is begun next, if there is one. */
    long next() {
        return next;
    }

    /** Returns whether a request is not complete. */
    boolean isAny() {
        return head < queue.tail();
    }

    /** Returns whether a request has been begun and is not complete. */
    boolean isAnyBegun() {
        return head < next;
    }

    int firstPsn() {
        return firstPsn;
    }

    int psn(long index) {
        return (int) (firstPsn + (index - base)) & WireFormat.PSN_MASK;
    }

    // ---- what the peer has

    /** The peer has all requests below that one. */
    void acknowledgeTo(long end) {
        acknowledged = Math.max(acknowledged, end);
    }

    /** Returns whether the peer has that request. */
    boolean isAcknowledged(long index) {
        return index < acknowledged;
    }

    /** The number of requests that the peer has, of those since READY_TO_SEND. */
    long delivered() {
        return acknowledged - base;
    }

    // ---- what a request is

    /** Returns whether a request is complete as soon as the socket has it. */
    boolean isInjected(long index) {
        return keptByKernel && isSendWith(SendFlag.INJECT_COMPLETE, index);
    }

    /** Returns whether a request waits for the peer's receive as long as that takes. */
    boolean isPatient(long index) {
        return isSendWith(SendFlag.DELIVERY_COMPLETE, index)
                || (!keptByKernel && isSendWith(SendFlag.INJECT_COMPLETE, index));
    }

    private boolean isSendWith(int flag, long index) {
        return (queue.flags(index) & flag) != 0 && WireFormat.isSend(queue.opcode(index));
    }

    boolean isSignaled(long index) {
        return (queue.flags(index) & SendFlag.SIGNALED) != 0;
    }

    // ---- how many

    /** Returns whether the peer answers one of them in time, once it is carried out. */
    boolean awaitAnswer() {
        return answers > 0;
    }

    /** Returns whether the program waits for a response to one of them. */
    boolean awaitResponse() {
        return signaled > 0;
    }

    // ---- steps

    /** The request at {@code next} is begun. */
    void begin() {
        count(next, 1);
        next++;
    }

    /** The request that was begun last is not, after all. */
    void takeBack() {
        next--;
        count(next, -1);
    }

    /** The request at {@code head} is over. Its slot is the caller's until he releases it. */
    void end() {
        if (head < next) {
            count(head, -1);
        } else {
            next++; // it never began
        }
        head++;
    }

    private void count(long index, int by) {
        if (!isInjected(index)) {
            answers += isPatient(index) ? 0 : by;
            signaled += isSignaled(index) ? by : 0;
        }
    }
}
