package trigon.transport.protocol;

import org.jspecify.annotations.Nullable;
import trigon.transport.path.RegisteredMemory;

/** The sending end's part. */
public sealed interface SendProtocol extends Protocol permits EagerSender, EagerUncopiedSender, RendezvousSender {

    /**
     * Sends a message; size and memory have been checked.
     *
     * @param memory null only where the size is 0
     * @return the request, {@link #NO_ROOM}, {@link #NO_RECEIVE} or {@link #FAILED}
     */
    long isend(long address, int size, int tag, @Nullable RegisteredMemory memory);

    /**
     * After {@link #NO_RECEIVE}: the entry library may answer for the message until the receiver has said where it may
     * go.
     */
    void letLibraryWait();
}
