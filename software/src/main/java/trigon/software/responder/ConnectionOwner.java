package trigon.software.responder;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a connection are its, once {@link InboundConnection#adoptedBy} has said so. Called under its lock.
 */
interface ConnectionOwner {

    /** The event loop has found something to do; it does not hold the lock. */
    void onReady();

    /** Does something under its lock. */
    void locked(Runnable action);

    /** A request has come, up to its payload; it lies at that address for the time of the call. */
    void onRequest(long at);

    /** Some of the payload has come, which lies at that address for the time of the call. */
    void onPayload(long at, int bytes, boolean last);

    /** The place for so many bytes of the payload, or some of them, to be read into; null if they may not. */
    @Nullable
    ByteBuffer inPlace(int bytes);

    /** Some of the payload has been read there. */
    void onPayloadInPlace(int bytes, boolean last);

    /** Returns whether a payload of that length is to be read by another thread. */
    boolean isLeftToMover(int bytes);

    /** A refusal is on its way; once it is out, the queue pair fails. */
    void onRefused();

    /** It has ended, once; not after {@link InboundConnection#finish}. */
    void onConnectionClosed(InboundConnection closed);
}
