package trigon.stream.hop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The TCP connection of a hop that carries chunks: on it, a side that is about to sleep says how many messages it has
 * received, and the other wakes it. A message may cross the word that its receiver sleeps: then the count is behind
 * what was sent, and the bell is rung at once. So no message waits for a side that sleeps, however the two connections
 * run.
 *
 * <p>One byte each: bit 7 and a count for "asleep", 0 for "wake up". Used by one thread at a time.
 */
final class Bell {

    static final int COUNT_MASK = 0x7F;
    private static final byte WAKE = 0;
    private static final int ASLEEP = 0x80;

    /** More than are under way at any time: each side says one word for each of the other's. */
    private static final int READ_BYTES = 64;

    private final SocketChannel socket;
    private final ChunkWindow window;
    private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(1);
    private boolean asleep;
    private boolean peerAsleep;
    private boolean closed;

    Bell(SocketChannel socket, ChunkWindow window) {
        this.socket = socket;
        this.window = window;
    }

    /** This side sleeps until it is woken. */
    void sleep() throws IOException {
        if (!asleep) {
            asleep = true;
            say((byte) (ASLEEP | window.receivedCount()));
        }
    }

    /** A message was sent: wakes the other side if it sleeps. */
    void onSent() throws IOException {
        if (peerAsleep) {
            peerAsleep = false;
            say(WAKE);
        }
    }

    /**
     * Reads what the other side has said.
     *
     * @return whether this side has been woken, or the other has closed the connection
     */
    boolean listen() throws IOException {
        boolean woken = closed;
        int bytes = closed ? 0 : read();
        for (int i = 0; i < bytes; i++) {
            woken |= hear(in.get(i));
        }
        closed |= bytes < 0;
        return woken || closed;
    }

    /**
     * Once: a socket with more is ready again. A process that ends with a word unread resets the connection, which is
     * closed then as well.
     */
    private int read() {
        try {
            return socket.read(in.clear());
        } catch (IOException _) {
            return -1;
        }
    }

    /** Returns whether the other side has closed the connection. */
    boolean isClosed() {
        return closed;
    }

    /** Takes a word of the other side; returns true if that wakes this one. */
    private boolean hear(byte word) throws IOException {
        if (word == WAKE) {
            asleep = false;
            return true;
        }
        peerAsleep = true;
        if ((word & COUNT_MASK) != window.sentCount()) {
            onSent();
        }
        return false;
    }

    /** Nobody hears it on a connection that the other side has reset, which is closed then as well. */
    private void say(byte word) throws IOException {
        out.clear().put(0, word);
        int written;
        try {
            written = socket.write(out);
        } catch (IOException _) {
            closed = true;
            return;
        }
        if (written != 1) {
            throw new IOException("the other side does not listen to the bell");
        }
    }
}
