package trigon.report.model;

import org.jspecify.annotations.Nullable;

/**
 * A message from one rank to another. Times are nanoseconds on the run's clock, 0 where the trace does not have them.
 */
public final class Message {

    private final Connection connection;
    private final long number;
    long bytes;
    long waits;
    long posted;
    long sent;
    long sendGap;
    long receivePosted;
    long received;
    long receiveGap;
    long ready;

    @Nullable
    Collective collective;

    Message(Connection connection, long number) {
        this.connection = connection;
        this.number = number;
    }

    /** From which rank to which, and by which of their connections. */
    public Connection connection() {
        return connection;
    }

    /** Its place among the connection's messages, from 0 on. */
    public long number() {
        return number;
    }

    public long bytes() {
        return bytes;
    }

    /** The sender's first try: when it was refused first, else when it was posted. */
    public long tried() {
        return waits == 0 ? posted : waits;
    }

    /** When NCCL had the data, as its profiler says; 0 where it does not. */
    public long ready() {
        return ready;
    }

    /** When the sender's plugin took it. */
    public long posted() {
        return posted;
    }

    /** When NCCL heard that it is sent. */
    public long sent() {
        return sent;
    }

    /** For how long the sender's thread had not asked before that. */
    public long sendGap() {
        return sendGap;
    }

    /** When the receiver's plugin took the receive. */
    public long receivePosted() {
        return receivePosted;
    }

    /** When NCCL heard that it has come. */
    public long received() {
        return received;
    }

    /** For how long the receiver's thread had not asked before that. */
    public long receiveGap() {
        return receiveGap;
    }

    /** The collective that it is part of; null where that is not known. */
    public @Nullable Collective collective() {
        return collective;
    }

    /** Tells whether both ends are known, from post to done. */
    public boolean isWhole() {
        return posted != 0 && received != 0;
    }
}
