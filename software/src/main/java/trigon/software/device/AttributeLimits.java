package trigon.software.device;

import trigon.software.wire.DeviceLimits;
import trigon.software.wire.WireFormat;
import trigon.system.Errno;
import trigon.verbs.AddressVector;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.VerbsException;

/** The values that the attributes of a software device's queue pair may have. */
final class AttributeLimits {

    private static final int GREATEST_LID = 0xFFFF;

    private AttributeLimits() {}

    /**
     * Checks the values of a change. Those that are not set read as 0, which all limits allow but the port's.
     *
     * @throws VerbsException EINVAL if one is out of its limits
     */
    static void check(String object, QueuePairAttributes attributes) {
        if (attributes.mask().contains(QueuePairAttribute.PORT)) {
            require(object, "port", attributes.port(), DeviceLimits.PORT, DeviceLimits.PORT);
        }
        require(object, "P_Key index", attributes.pkeyIndex(), 0, 0);
        require(
                object,
                "destination queue pair number",
                attributes.destinationNumber(),
                0,
                DeviceLimits.MAX_QUEUE_PAIR_NUMBER);
        require(object, "receive PSN", attributes.receivePsn(), 0, WireFormat.PSN_MASK);
        require(object, "send PSN", attributes.sendPsn(), 0, WireFormat.PSN_MASK);
        int reads = DeviceLimits.MAX_READ_ATOMIC;
        require(object, "READs and atomics outstanding here", attributes.maxDestinationReadAtomic(), 0, reads);
        require(object, "READs and atomics outstanding at the peer", attributes.maxReadAtomic(), 0, reads);
        require(object, "minimum RNR timer", attributes.minRnrTimer(), 0, 31);
        require(object, "timeout", attributes.timeout(), 0, 31);
        require(object, "retry count", attributes.retryCount(), 0, 7);
        require(object, "RNR retry", attributes.rnrRetry(), 0, 7);
        if (attributes.mask().contains(QueuePairAttribute.ADDRESS_VECTOR)) {
            AddressVector vector = attributes.addressVector();
            require(object, "source GID index", vector.sourceGidIndex(), 0, 0);
            require(object, "port of the address vector", vector.port(), DeviceLimits.PORT, DeviceLimits.PORT);
            require(object, "destination LID (the peer's TCP port)", vector.destinationLid(), 1, GREATEST_LID);
        }
    }

    private static void require(String object, String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new VerbsException(
                    "ibv_modify_qp", object, Errno.EINVAL, what + " " + value + " is not in " + least + ".." + most);
        }
    }
}
