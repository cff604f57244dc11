package trigon.verbs.ffm;

import java.util.function.BooleanSupplier;
import java.util.function.LongToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Errno;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;

/**
 * The address of a native object until it is destroyed, counted in the ledgers as long as it exists. Thread-safe;
 * control path only.
 */
final class NativeHandle {

    private static final Logger LOG = LoggerFactory.getLogger(NativeHandle.class);

    private final ResourceLedger.Kind kind;
    private final String object;
    private final ResourceLedger ofProvider;
    private final ResourceLedger ofOwner;
    private final BooleanSupplier deviceIsGone;
    private volatile long address;

    /**
     * Takes over a native object that was just created.
     *
     * @param object what it is called in messages
     * @param ofProvider counts all objects of the provider
     * @param ofOwner counts the objects that must be destroyed before their device is closed
     * @param deviceIsGone whether its device has failed as a whole
     */
    NativeHandle(
            ResourceLedger.Kind kind,
            String object,
            long address,
            ResourceLedger ofProvider,
            ResourceLedger ofOwner,
            BooleanSupplier deviceIsGone) {
        this.kind = kind;
        this.object = object;
        this.address = address;
        this.ofProvider = ofProvider;
        this.ofOwner = ofOwner;
        this.deviceIsGone = deviceIsGone;
        ofProvider.opened(kind);
        ofOwner.opened(kind);
    }

    /** Address of the native object. Throws IllegalStateException after it was destroyed, instead of passing it on. */
    long address() {
        long current = address;
        if (current == 0) {
            throw new IllegalStateException(object + " is closed");
        }
        return current;
    }

    /** Its name in messages. */
    String object() {
        return object;
    }

    /**
     * Destroys the object unless that was done before. A failure is logged and leaves the object as it is: it stays in
     * the ledgers, and can be closed again, say after what depended on it was closed.
     *
     * @param verb name of the C function, for the message
     * @param destroy calls it; returns 0 or an errno
     * @return whether the object was destroyed by this call
     */
    boolean close(String verb, LongToIntFunction destroy) {
        try {
            return destroy(verb, destroy);
        } catch (VerbsException e) {
            LOG.warn("{}", e.getMessage());
            return false;
        }
    }

    /**
     * The same, for an object whose users must know that it is gone.
     *
     * @throws VerbsException instead of the line in the log
     */
    synchronized boolean destroy(String verb, LongToIntFunction destroy) {
        if (address == 0) {
            return false;
        }
        int errno = destroy.applyAsInt(address);
        if (errno != 0 && !wentWithItsDevice(errno)) {
            throw new VerbsException(verb, object, errno, Advice.onDestroying(errno));
        }
        address = 0;
        ofProvider.closed(kind);
        ofOwner.closed(kind);
        return true;
    }

    /** The kernel frees what a removed device has, and refuses all that is asked of it (ib_uverbs disassociates it). */
    private boolean wentWithItsDevice(int errno) {
        return (errno == Errno.EIO || errno == Errno.ENODEV) && deviceIsGone.getAsBoolean();
    }
}
