package trigon.verbs.ffm;

import trigon.system.Errno;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;

/** The remedy for a failed verb, for the message of the exception. Empty where there is nothing to say. */
final class Advice {

    private Advice() {}

    static String onOpening(int errno) {
        return switch (errno) {
            case Errno.EACCES, Errno.EPERM ->
                "this user cannot open the device node; check the permissions of /dev/infiniband/uverbs*";
            case Errno.ENOENT, Errno.ENODEV ->
                "the device node is missing; in a container, pass /dev/infiniband into it";
            case Errno.EMFILE -> "the process has too many files open; raise ulimit -n";
            case Errno.ENOMEM -> "memory, or what the device has for programs, is used up; end others that use it";
            default -> "see dmesg for what is wrong with the device";
        };
    }

    static String onRegistering(int errno) {
        return onRegistering(errno, MemoryLockLimit.ofThisProcess());
    }

    static String onRegistering(int errno, String memoryLockLimit) {
        return switch (errno) {
            case Errno.ENOMEM, Errno.EAGAIN ->
                memoryLockLimit.equals(MemoryLockLimit.UNLIMITED)
                        // some drivers, such as rxe, report memory that is not mapped in this way too
                        ? "the limit on locked memory is " + memoryLockLimit
                                + ", so memory is short, or the range is not mapped"
                        : "raise the limit on locked memory (ulimit -l, or --ulimit memlock=-1 for a container),"
                                + " which is now " + memoryLockLimit;
            case Errno.EFAULT -> "the memory is not mapped, or is read-only while write access was asked for";
            case Errno.EINVAL -> "the length is at least 1, and REMOTE_WRITE needs LOCAL_WRITE";
            default -> "";
        };
    }

    static String onRegisteringDmaBuf(int errno) {
        return switch (errno) {
            case Errno.EOPNOTSUPP, Errno.EPROTONOSUPPORT ->
                "DMA-BUF needs Linux 5.12, rdma-core 34 and a driver with support, such as mlx5_core";
            case Errno.EINVAL -> "the range is not within the DMA-BUF, or its address and offset differ within a page";
            case Errno.ENOMEM -> "the GPU's BAR may be too small for what is registered; see nvidia-smi -q -d MEMORY";
            default -> "";
        };
    }

    static String onCreatingCompletionQueue(int errno) {
        return errno == Errno.EINVAL ? "the device has no queue of that size; see maxCompletionQueueEntries" : "";
    }

    static String onCreatingQueuePair(int errno) {
        return switch (errno) {
            case Errno.EINVAL, Errno.ENOMEM ->
                "the queues may be deeper, or the inline payload longer, than the device allows;"
                        + " see maxQueuePairWorkRequests";
            default -> "";
        };
    }

    static String onModifying(int errno, QueuePairAttributes attributes) {
        boolean resolvesAddress = attributes.state() == QueuePairStateCode.READY_TO_RECEIVE;
        return switch (errno) {
            case Errno.ETIMEDOUT ->
                resolvesAddress
                        ? "the peer's address was not resolved in time; check the cable, that the peer's interface is"
                                + " up,"
                                + " and with ping that it answers on this link"
                        : "";
            case Errno.ENETUNREACH, Errno.EHOSTUNREACH ->
                "there is no route to the peer's address through this device; check both ends' addresses and subnets";
            case Errno.ENODATA ->
                "the GID at that index is gone; check with ip addr that the interface still has its address";
            case Errno.EINVAL ->
                "the transition is not allowed from the present state, an attribute is missing or out of range,"
                        + " or there is no GID at that index";
            default -> "";
        };
    }

    static String onDestroying(int errno) {
        return errno == Errno.EBUSY ? "close what was created from it first" : "";
    }
}
