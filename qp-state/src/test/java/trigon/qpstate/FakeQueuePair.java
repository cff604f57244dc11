package trigon.qpstate;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/** A queue pair that remembers its modifications, refuses what Linux refuses, and fails when told to. */
final class FakeQueuePair implements QueuePair {

    static final int NUMBER = 0x1a2;

    private final List<QueuePairAttributes> modifications = new ArrayList<>();
    private QueuePairStateCode state = QueuePairStateCode.RESET;
    private @Nullable RuntimeException failure;
    private int closes;

    /** The next verb fails with that, once. */
    void failNext(@Nullable RuntimeException with) {
        failure = with;
    }

    List<QueuePairAttributes> modifications() {
        return modifications;
    }

    int closes() {
        return closes;
    }

    @Override
    public int number() {
        return NUMBER;
    }

    @Override
    public int maxInlineBytes() {
        return 0;
    }

    @Override
    public void modify(QueuePairAttributes attributes) {
        failIfTold();
        if (!allowed(state, attributes.state())) {
            throw new VerbsException("ibv_modify_qp", state + " to " + attributes.state(), Errno.EINVAL, "");
        }
        modifications.add(attributes);
        state = attributes.state();
    }

    /** ib_modify_qp_is_ok of the Linux kernel, for the states that are used here. */
    private static boolean allowed(QueuePairStateCode from, QueuePairStateCode to) {
        return switch (to) {
            case RESET -> true;
            case INIT -> from == QueuePairStateCode.RESET || from == QueuePairStateCode.INIT;
            case READY_TO_RECEIVE -> from == QueuePairStateCode.INIT;
            case READY_TO_SEND ->
                from == QueuePairStateCode.READY_TO_RECEIVE || from == QueuePairStateCode.READY_TO_SEND;
            case ERROR -> from != QueuePairStateCode.RESET;
            case SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> false;
        };
    }

    @Override
    public QueuePairStateCode queryState() {
        return state;
    }

    @Override
    public void close() {
        failIfTold();
        closes++;
    }

    private void failIfTold() {
        RuntimeException now = failure;
        if (now != null) {
            failure = null;
            throw now;
        }
    }

    @Override
    public int postSend(long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        return Errno.EINVAL;
    }

    @Override
    public int postSendWithImmediate(
            long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
        return Errno.EINVAL;
    }

    @Override
    public int postWrite(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        return Errno.EINVAL;
    }

    @Override
    public int postWriteWithImmediate(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags) {
        return Errno.EINVAL;
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        return Errno.EINVAL;
    }

    @Override
    public int postEmptyReceives(int count) {
        return Errno.EINVAL;
    }
}
