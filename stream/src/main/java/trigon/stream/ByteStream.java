package trigon.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;

/**
 * A connected stream of bytes both ways that never blocks. Used by one thread at a time. Reading and writing allocate
 * nothing.
 */
public interface ByteStream {

    /**
     * Reads what there is.
     *
     * @return bytes read, 0 if there are none now, -1 once the other side has ended its output
     * @throws IOException if the stream is broken
     */
    int read(ByteBuffer into) throws IOException;

    /** The same, into several buffers in turn; as {@link java.nio.channels.ScatteringByteChannel#read}. */
    long read(ByteBuffer[] into, int offset, int length) throws IOException;

    /**
     * Writes what there is room for.
     *
     * @return bytes written, 0 if there is no room now
     * @throws IOException if the stream is broken
     */
    int write(ByteBuffer from) throws IOException;

    /** The same, from several buffers in turn; as {@link java.nio.channels.GatheringByteChannel#write}. */
    long write(ByteBuffer[] from, int offset, int length) throws IOException;

    /** Writes no more. What was written still arrives, and then the other side reads the end. Twice is allowed. */
    void shutdownOutput() throws IOException;

    /** Returns whether the end of the output has been sent, which may have to wait for room at the other side. */
    boolean isOutputOver();

    /**
     * Returns whether a selector that has the stream's socket tells that there is something to read, or room to write.
     * Else reading and writing are to be tried again and again; and sleepers say so by {@link #sleep}, after which the
     * socket becomes readable once there may be something.
     */
    boolean isSelectable();

    /**
     * The operations to select the stream's socket for ({@link SelectionKey}).
     *
     * @param reads whether there may be something to read
     * @param writes whether there is something to write
     */
    int interest(boolean reads, boolean writes);

    /**
     * From now on, the neighbour makes the socket ready when it sends something. A sleeper may look now and then.
     *
     * @throws IOException if the stream is broken
     */
    void sleep() throws IOException;

    /**
     * The socket is ready: hears what the other side says on it.
     *
     * @return whether there may be something to read, or room to write
     */
    boolean listen();

    /** Returns whether something has come that no selector tells of: it is to be read before {@link #sleep}. */
    boolean hasInput();

    /** Returns whether what was written is still on its way to the neighbour: no socket tells when it has arrived. */
    boolean isSending();

    /** Ends both directions at once; the socket is closed. Twice is allowed. */
    void close();
}
