package trigon.stream.dial;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import trigon.stream.ByteStream;
import trigon.stream.Conversation;
import trigon.stream.Conversation.Step;
import trigon.stream.RefusalCause;
import trigon.stream.SocketOptions;
import trigon.stream.SocketStream;
import trigon.stream.hop.HopUpgrade;
import trigon.stream.loop.EventLoop;

/**
 * A stream on its way: it connects, if need be opens a circuit through relays, has both ends say what they say first,
 * and then agrees with the first relay on what carries the bytes. Used under its owner's guard; what goes on, goes on
 * in the event loop's thread.
 */
public final class PendingStream {

    /** Told once how it ended, unless the caller {@linkplain #giveUp cancels} first. */
    public interface Owner {

        /** The stream is open. Its place in the selector is left as it is. */
        void onOpened(SocketChannel channel, SelectionKey key, ByteStream stream);

        /** Nobody listens there, or who does takes no stream from here. */
        void onRefused(String reason);

        /** A relay's process is gone, or has no room: another one of its node may do, which the next stream takes. */
        void onRelayLost(String reason);

        /** Something else went wrong, a lack of buffers for example: there may be some in a moment. */
        void onFailed(Throwable cause);
    }

    /**
     * The resources of a stream that is being opened.
     *
     * @param loop the event loop that has its socket
     * @param guard runs what goes on at once, on the calling thread, under the owner's lock
     * @param first what this end says first, to the other end
     * @param owner who wants it
     */
    public record Attendance(EventLoop loop, Executor guard, Conversation first, Owner owner) {}

    private enum Phase {
        CONNECTING,
        OPENS_CIRCUIT,
        TALKS,
        UPGRADES,
        OVER
    }

    private final InetAddress local;
    private final FirstHop firstHop;
    private final @Nullable Conversation opening;

    /** The upgrade of the hop to the first relay; null where the bytes stay on TCP. */
    private final @Nullable HopUpgrade upgrade;

    private Phase phase = Phase.CONNECTING;
    private @Nullable Attendance attendance;
    private @Nullable SocketChannel channel;
    private @Nullable SelectionKey key;

    /**
     * A stream to be.
     *
     * @param opening of the circuit; null if the first hop leads to the end
     */
    PendingStream(InetAddress local, FirstHop firstHop, @Nullable Conversation opening, @Nullable HopUpgrade upgrade) {
        this.local = local;
        this.firstHop = firstHop;
        this.opening = opening;
        this.upgrade = upgrade;
    }

    /** Returns whether it goes through relays. */
    public boolean isRelayed() {
        return opening != null;
    }

    /** Returns whether its hops agree on what carries them behind what the ends say first. */
    public boolean isUpgraded() {
        return upgrade != null;
    }

    /** Begins to connect; once. */
    public void start(Attendance attended) {
        attendance = attended;
        try {
            SocketChannel connecting = SocketChannel.open();
            channel = connecting;
            SocketOptions.apply(connecting);
            connecting.bind(new InetSocketAddress(local, 0));
            if (firstHop.segmentBytes() > 0) {
                SocketOptions.limitSegments(connecting, firstHop.segmentBytes());
            }
            boolean connected = connecting.connect(firstHop.address());
            if (connected) {
                onConnected();
            }
            key = attended.loop()
                    .register(
                            connecting,
                            connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            () -> attended.guard().execute(() -> onReady(connecting)));
        } catch (IOException | OutOfMemoryError e) {
            fail(e);
        }
    }

    private void onConnected() {
        phase = opening == null ? Phase.TALKS : Phase.OPENS_CIRCUIT;
    }

    private void onReady(SocketChannel connecting) {
        try {
            switch (phase) {
                case CONNECTING -> {
                    if (connecting.finishConnect()) {
                        onConnected();
                        Objects.requireNonNull(key).interestOps(SelectionKey.OP_READ);
                    }
                }
                case OPENS_CIRCUIT -> converse(connecting, Objects.requireNonNull(opening));
                case TALKS -> converse(connecting, attended().first());
                case UPGRADES -> upgrade(connecting, Objects.requireNonNull(upgrade));
                case OVER -> {}
            }
        } catch (IOException | OutOfMemoryError e) {
            fail(e);
        }
    }

    private void converse(SocketChannel connecting, Conversation conversation) throws IOException {
        if (!fill(conversation.expected(), connecting)) {
            return;
        }
        switch (conversation.next()) {
            case Step.Read() -> {}
            case Step.Send(byte[] bytes) -> send(connecting, bytes);
            case Step.Open() -> onSaid(connecting);
            case Step.Refused(String why) -> refuse(why);
            case Step.NotOpened(RefusalCause cause, String why) -> {
                firstHop.onRefused(cause);
                String reason = "a relay refuses: " + why;
                switch (cause) {
                    case END_REFUSED, END_UNREACHABLE, DENIED -> refuse(reason);
                    case FULL, NEXT_RELAY -> loseRelay(reason);
                }
            }
        }
    }

    private void loseRelay(String reason) {
        giveUp();
        attended().owner().onRelayLost(reason);
    }

    private void onSaid(SocketChannel connecting) throws IOException {
        if (phase == Phase.OPENS_CIRCUIT) {
            phase = Phase.TALKS;
        } else if (upgrade == null) {
            finish(connecting, new SocketStream(connecting));
        } else {
            phase = Phase.UPGRADES;
            send(connecting, upgrade.begin());
        }
    }

    private void upgrade(SocketChannel connecting, HopUpgrade begun) throws IOException {
        if (fill(begun.expected(), connecting)) {
            send(connecting, begun.next());
            if (begun.isOver()) {
                finish(connecting, begun.carrier(connecting, attended().loop()::execute));
            }
        }
    }

    private void finish(SocketChannel connected, ByteStream stream) {
        phase = Phase.OVER;
        attended().owner().onOpened(connected, Objects.requireNonNull(key), stream);
    }

    private Attendance attended() {
        return Objects.requireNonNull(attendance);
    }

    /** Reads no more than what is expected, and so nothing of what follows it; true once it is there. */
    private boolean fill(ByteBuffer expected, SocketChannel connecting) {
        int bytes = 0;
        try {
            bytes = connecting.read(expected);
        } catch (IOException e) {
            hearNothing(String.valueOf(e.getMessage()));
            return false;
        }
        if (bytes < 0) {
            hearNothing("it has closed the connection");
        }
        return !expected.hasRemaining();
    }

    private static void send(SocketChannel connecting, byte[] bytes) throws IOException {
        if (connecting.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("a fresh socket has no room for what is said first");
        }
    }

    /** The other side ends the connection before all is said: before the circuit is open, that is the first relay. */
    private void hearNothing(String reason) {
        if (phase == Phase.OPENS_CIRCUIT) {
            firstHop.onUnreachable();
            loseRelay("the relay at " + firstHop.address() + ": " + reason);
        } else {
            refuse(reason);
        }
    }

    private void refuse(String reason) {
        giveUp();
        attended().owner().onRefused(reason);
    }

    private void fail(Throwable cause) {
        boolean connects = phase == Phase.CONNECTING;
        giveUp();
        if (cause instanceof ConnectException && isRelayed() && connects) {
            firstHop.onUnreachable();
            attended().owner().onRelayLost(cause.getMessage() + " by the relay at " + firstHop.address());
        } else if (cause instanceof ConnectException) {
            attended().owner().onRefused(String.valueOf(cause.getMessage()));
        } else {
            attended().owner().onFailed(cause);
        }
    }

    /** Closes it, unless it is open already. */
    public void giveUp() {
        SocketChannel unfinished = phase == Phase.OVER ? null : channel;
        phase = Phase.OVER;
        if (upgrade != null) {
            upgrade.close();
        }
        if (unfinished != null) {
            new SocketStream(unfinished).close();
            attended().loop().wakeUp(); // lets go of the socket
        }
    }
}
