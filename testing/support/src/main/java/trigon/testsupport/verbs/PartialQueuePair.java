package trigon.testsupport.verbs;

import trigon.system.Errno;
import trigon.verbs.QueuePair;

/** A queue pair that knows no request: for those of tests, which override what they know. */
public abstract class PartialQueuePair implements QueuePair {

    @Override
    public int postSendWithImmediate(
            long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
        return Errno.EOPNOTSUPP;
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        return Errno.EOPNOTSUPP;
    }

    @Override
    public int postSend(long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        return Errno.EOPNOTSUPP;
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
        return Errno.EOPNOTSUPP;
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
        return Errno.EOPNOTSUPP;
    }

    @Override
    public int postEmptyReceives(int count) {
        return Errno.EOPNOTSUPP;
    }
}
