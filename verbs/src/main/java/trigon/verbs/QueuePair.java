package trigon.verbs;

import java.time.Duration;
import java.util.Optional;
import trigon.system.Errno;
import trigon.system.kernel.TcpEnds;

/**
 * A reliable connected queue pair ({@code struct ibv_qp} of type {@code IBV_QPT_RC}).
 *
 * <p>The {@code post} methods are the data path: each queue is used by one thread at a time; they never block, allocate
 * or throw, and return 0 or a positive errno ({@link Errno#ENOMEM}: the queue is full, {@link Errno#EINVAL}: wrong
 * state or argument), as {@code ibv_post_send(3)} and {@code ibv_post_recv(3)} do. Lengths are bytes, 0 to the port's
 * longest message; with length 0 address and key are not looked at. Requests of one queue complete in the order in
 * which they were posted. {@code workRequestId} comes back in the {@link WorkCompletions}.
 */
public interface QueuePair extends AutoCloseable {

    /** The 24-bit number by which the peer names it. */
    int number();

    /** The longest payload that {@link SendFlag#INLINE} takes; at least what was asked for, in bytes. */
    int maxInlineBytes();

    /**
     * Changes state and attributes. May block, for example for address resolution on the way to READY_TO_RECEIVE.
     *
     * @throws VerbsException EINVAL if the transition is illegal or an attribute is missing; ETIMEDOUT, ENETUNREACH or
     *     EHOSTUNREACH if the peer's address does not resolve through this device
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html">ibv_modify_qp(3)</a>
     */
    void modify(QueuePairAttributes attributes);

    /** The state the device has it in; {@code ibv_query_qp(3)}. An error may have changed it. */
    QueuePairStateCode queryState();

    /** Posts a SEND, which takes one receive work request of the peer. */
    int postSend(long workRequestId, long localAddress, int length, int localKey, int sendFlags);

    /** Posts a SEND that also reports {@code immediate} with the receive that it takes. */
    int postSendWithImmediate(
            long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags);

    /** Posts an RDMA WRITE. The peer notices nothing but the changed memory. */
    int postWrite(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags);

    /** Posts an RDMA WRITE that also takes one receive work request of the peer and reports {@code immediate} there. */
    int postWriteWithImmediate(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags);

    /** Posts a receive buffer, for a SEND or, with length 0 allowed, for the immediate of an RDMA WRITE. */
    int postReceive(long workRequestId, long localAddress, int length, int localKey);

    /**
     * Posts receives without a buffer, for the immediates of so many RDMA WRITEs; their identifier is 0. One call of
     * the device where it takes them as a list. After an error some may have been posted.
     */
    int postEmptyReceives(int count);

    /** The way to post to it from C; empty where no function of C does that. */
    default Optional<NativePost> nativePost() {
        return Optional.empty();
    }

    /**
     * Waits until the connection to the peer is open, from READY_TO_SEND on: a device that works over connections of
     * its own opens one ahead of the first request, which would wait for it otherwise. Control threads.
     *
     * @return whether it is open; if not, because the peer refuses or the time is over, the first request tries again
     */
    default boolean awaitOpen(Duration timeout) {
        return true;
    }

    /**
     * The two addresses of the TCP connection on which its requests go out now; empty where a device uses none. Any
     * thread.
     */
    default Optional<TcpEnds> connection() {
        return Optional.empty();
    }

    /**
     * Returns whether messages may still come in although the peer is gone: from the buffers of a device that works by
     * copying. An RDMA NIC has acknowledged nothing that is not in memory.
     */
    default boolean mayStillReceive() {
        return false;
    }

    /**
     * The peer's process has ended, as is known by other means: what it has sent is still received, but not
     * acknowledged. Where a device works over sockets, the peer's kernel would answer with a reset, and drop what it
     * has not sent yet. Any thread; returns at once.
     */
    default void stopAcknowledging() {}

    /**
     * {@code ibv_destroy_qp(3)}. Outstanding requests are dropped, and once it returns the device touches none of their
     * memory. Closing twice is allowed.
     *
     * @throws VerbsException if the device refuses: then it may still write, and the queue pair can be closed again
     */
    @Override
    void close();
}
