package trigon.software;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** A TCP connection of a queue pair, with its place in the attendant's selector. */
abstract class Connection extends StreamReader implements Attendant.Attended {

    private final Attendant attendant;
    private final SelectionKey key;
    private int armed;

    /** A connection that is not to be looked at for now. */
    Connection(SocketChannel channel, Attendant attendant, int headerBytes) throws IOException {
        super(channel, headerBytes);
        this.attendant = attendant;
        key = attendant.register(channel, 0, this);
    }

    /** A connection like that, which reads no more than one header until it has a buffer of its own. */
    Connection(SocketChannel channel, Attendant attendant, int headerBytes, ByteBuffer headerBuffer)
            throws IOException {
        super(channel, headerBytes, headerBuffer, Sharing.FOR_ONE_HEADER);
        this.attendant = attendant;
        key = attendant.register(channel, 0, this);
    }

    /** What goes out has not all gone out. */
    abstract boolean hasOutput();

    /** Has the attendant look after it when there is something to be read, or room for what is to be written. */
    final void arm() {
        int wanted = (isPaused() ? 0 : SelectionKey.OP_READ) | (hasOutput() ? SelectionKey.OP_WRITE : 0);
        if ((wanted & ~armed) != 0) {
            setInterest(wanted);
            attendant.wakeUp();
        }
    }

    /** The opposite of {@link #arm}; in force once the attendant has been woken up. */
    final void disarm() {
        setInterest(0);
    }

    /** The attendant has nothing to do with it any more. */
    final void leaveAttendant() {
        key.cancel();
        attendant.wakeUp();
    }

    private void setInterest(int wanted) {
        try {
            if (key.isValid()) {
                key.interestOps(wanted);
                armed = wanted;
            }
        } catch (CancelledKeyException _) {
            // just now, since the provider is being closed
        }
    }

    final Attendant attendant() {
        return attendant;
    }
}
