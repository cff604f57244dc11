package trigon.testsupport.verbs;

import trigon.system.Errno;
import trigon.verbs.QueuePair;

/** A queue pair that has SENDs with an immediate, and nothing else. */
abstract class SendingQueuePair implements QueuePair {

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
    public int postRead(
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
    public int postEmptyReceives(int count) {
        return Errno.EOPNOTSUPP;
    }
}
