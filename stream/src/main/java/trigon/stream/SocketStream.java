package trigon.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream that is a TCP connection. */
public final class SocketStream implements ByteStream {

    private static final Logger log = LoggerFactory.getLogger(SocketStream.class);

    private final SocketChannel socket;
    private boolean outputOver;

    /** Over a connected socket that does not block. */
    public SocketStream(SocketChannel socket) {
        this.socket = socket;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return socket.read(into);
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        return socket.read(into, offset, length);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return socket.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return socket.write(from, offset, length);
    }

    @Override
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
        outputOver = true;
    }

    @Override
    public boolean isOutputOver() {
        return outputOver;
    }

    @Override
    public boolean isSelectable() {
        return true;
    }

    @Override
    public int interest(boolean reads, boolean writes) {
        return (reads ? SelectionKey.OP_READ : 0) | (writes ? SelectionKey.OP_WRITE : 0);
    }

    /** Nothing to do: the kernel wakes who selects. */
    @Override
    public void sleep() {}

    @Override
    public boolean listen() {
        return true;
    }

    @Override
    public boolean hasInput() {
        return false;
    }

    /** The kernel sends on by itself. */
    @Override
    public boolean isSending() {
        return false;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            log.debug("Closing {}: {}", socket, e.toString());
        }
    }

    @Override
    public String toString() {
        return "TCP " + socket;
    }
}
