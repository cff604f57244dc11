package trigon.software.connection;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.wire.Preamble;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.stream.circuit.CircuitOpening;
import trigon.stream.circuit.CircuitOpening.Step;
import trigon.stream.circuit.Detours;
import trigon.stream.circuit.Prologue;
import trigon.stream.hop.ByteStream;
import trigon.stream.hop.HopDevices;
import trigon.stream.hop.HopUpgrade;
import trigon.stream.hop.SocketStream;
import trigon.verbs.Gid;

/**
 * A data connection on its way, from the device's address: it connects to the peer's device, if need be through relays,
 * hears the greeting, says
 * and proves whose it is, and waits until the peer has taken it and proven the same. Nothing is sent before that. Used
 * under the queue pair's lock; what goes on, goes on in the event loop's thread.
 */
public final class PendingConnection {

    /** Who wants the connection; told once how it ended, unless he {@linkplain #giveUp gives up} before. */
    public interface Owner {

        /**
         * The peer has accepted it. Its place in the selector is left as it is; so is what carries the bytes.
         *
         * @param relayed whether it goes through relays
         */
        void onConnected(SocketChannel channel, SelectionKey key, ByteStream carrier, boolean relayed);

        /** Nobody listens there, or who does takes no connection from here. */
        void onRefused(String reason);

        /** Something else went wrong, a lack of buffers for example: there may be some in a moment. */
        void onFailed(Throwable cause);
    }

    private enum Phase {
        CONNECTING,
        OPENS_CIRCUIT,
        AWAITS_GREETING,
        AWAITS_ACCEPTANCE,
        UPGRADES,
        OVER
    }

    private static final Logger log = LoggerFactory.getLogger(PendingConnection.class);

    private final LocalQueuePair queuePair;
    private final int firstPsn;
    private final Owner owner;
    private final PreambleExchange exchange = new PreambleExchange();

    private Phase phase = Phase.CONNECTING;
    private ByteBuffer expected = exchange.greetingSpace();
    private @Nullable CircuitOpening circuit;

    /** Of the hop to the first relay; null where the bytes stay on TCP. */
    private @Nullable HopUpgrade upgrade;

    private @Nullable SocketChannel channel;
    private @Nullable SelectionKey key;

    /**
     * A connection to be.
     *
     * @param firstPsn PSN of the requester's first request
     */
    public PendingConnection(LocalQueuePair queuePair, int firstPsn, Owner owner) {
        this.queuePair = queuePair;
        this.firstPsn = firstPsn;
        this.owner = owner;
    }

    /** To be called once. */
    public void start() {
        try {
            SocketChannel connecting = SocketChannel.open();
            channel = connecting;
            SocketOptions.apply(connecting);
            connecting.bind(new InetSocketAddress(queuePair.device().address(), 0));
            Optional<Detours.Detour> detour =
                    queuePair.device().detours().from(queuePair.device().address(), peer().address());
            detour.ifPresent(this::prepare);
            boolean connected =
                    connecting.connect(detour.map(Detours.Detour::first).orElse(peer().address()));
            if (connected) {
                beginOpening();
            }
            key = queuePair
                    .device()
                    .eventLoop()
                    .register(
                            connecting,
                            connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            () -> queuePair.lock().locked(() -> onReady(connecting)));
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
        }
    }

    private void prepare(Detours.Detour detour) {
        HopDevices hops = queuePair.device().hops();
        if (hops.isEmpty()) {
            circuit = detour.opening();
        } else {
            circuit = detour.opening(new Prologue(WireFormat.SAID_FORWARD, WireFormat.SAID_BACK));
            upgrade = HopUpgrade.ofDialer(hops, queuePair.device().address());
        }
    }

    private void beginOpening() {
        CircuitOpening opening = circuit;
        phase = opening == null ? Phase.AWAITS_GREETING : Phase.OPENS_CIRCUIT;
        expected = opening == null ? expected : opening.expected();
    }

    /** The relay's next word is read. */
    private void openCircuit(SocketChannel connecting, CircuitOpening opening) throws IOException {
        switch (opening.next()) {
            case Step.Read() -> expected = opening.expected();
            case Step.Send(byte[] bytes) -> {
                send(connecting, bytes);
                expected = opening.expected();
            }
            case Step.Open() -> {
                phase = Phase.AWAITS_GREETING;
                expected = exchange.greetingSpace();
            }
            case Step.Refused(String why) -> refused("a relay refuses: " + why);
        }
    }

    private Peer peer() {
        return queuePair.peer();
    }

    private void onReady(SocketChannel connecting) {
        SelectionKey mine = key;
        if (mine != null && isAccepted(connecting, mine)) {
            try {
                ByteStream carrier = carrier(connecting);
                phase = Phase.OVER;
                owner.onConnected(connecting, mine, carrier, circuit != null);
            } catch (IOException e) {
                failed(e);
            }
        }
    }

    private ByteStream carrier(SocketChannel connecting) throws IOException {
        HopUpgrade agreed = upgrade;
        return agreed == null
                ? new SocketStream(connecting)
                : agreed.carrier(connecting, queuePair.device().eventLoop()::execute);
    }

    /** Goes on; whether the end is reached, and it is good. */
    private boolean isAccepted(SocketChannel connecting, SelectionKey mine) {
        try {
            switch (phase) {
                case CONNECTING -> {
                    if (connecting.finishConnect()) {
                        beginOpening();
                        mine.interestOps(SelectionKey.OP_READ);
                    }
                }
                case OPENS_CIRCUIT -> {
                    CircuitOpening opening = circuit;
                    if (opening != null && isRead(connecting)) {
                        openCircuit(connecting, opening);
                    }
                }
                case AWAITS_GREETING -> {
                    if (isRead(connecting)) {
                        answer(connecting);
                    }
                }
                case AWAITS_ACCEPTANCE -> {
                    if (isRead(connecting) && isTaken()) {
                        return beginUpgrade(connecting);
                    }
                }
                case UPGRADES -> {
                    if (isRead(connecting)) {
                        return isUpgraded(connecting);
                    }
                }
                case OVER -> {}
            }
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
        }
        return false;
    }

    /** Reads no more than what is expected, and so nothing of what follows it. */
    private boolean isRead(SocketChannel connecting) throws IOException {
        int bytes = 0;
        try {
            bytes = connecting.read(expected);
        } catch (IOException e) {
            refused(String.valueOf(e.getMessage()));
            return false;
        }
        if (bytes < 0) {
            refused("it has closed the connection");
        }
        return !expected.hasRemaining();
    }

    private void answer(SocketChannel connecting) throws IOException {
        Optional<String> refusal = exchange.refusal();
        if (refusal.isPresent()) {
            warnAndRefuse(refusal.get());
            return;
        }
        Preamble.Hello hello = new Preamble.Hello(
                peer().number(),
                queuePair.number(),
                firstPsn,
                Gid.of(queuePair.device().address()),
                upgrade != null);
        ByteBuffer answer = exchange.answer(hello, queuePair.proofs(), peer().gid());
        connecting.write(answer);
        if (answer.hasRemaining()) {
            throw new IOException("a fresh socket takes no preamble");
        }
        phase = Phase.AWAITS_ACCEPTANCE;
        expected = ByteBuffer.allocate(WireFormat.ACCEPTANCE_BYTES);
    }

    private boolean isTaken() {
        boolean taken = exchange.isAccepted(expected.array(), queuePair.proofs(), peer().gid());
        if (!taken) {
            warnAndRefuse("its key is wrong, so it is not the peer");
        }
        return taken;
    }

    /** Whether there is nothing to agree on. */
    private boolean beginUpgrade(SocketChannel connecting) throws IOException {
        HopUpgrade begun = upgrade;
        if (begun == null) {
            return true;
        }
        phase = Phase.UPGRADES;
        send(connecting, begun.begin());
        expected = begun.expected();
        return false;
    }

    private boolean isUpgraded(SocketChannel connecting) throws IOException {
        HopUpgrade begun = Objects.requireNonNull(upgrade);
        send(connecting, begun.next());
        expected = begun.expected();
        return begun.isOver();
    }

    private static void send(SocketChannel connecting, byte[] bytes) throws IOException {
        if (connecting.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("a fresh socket takes no request");
        }
    }

    private void warnAndRefuse(String reason) {
        log.warn("{} cannot send to {}: {}", queuePair.device().name(), peer().address(), reason);
        refused(reason);
    }

    private void refused(String reason) {
        if (phase != Phase.OVER) {
            giveUp();
            owner.onRefused(reason);
        }
    }

    private void failed(Throwable cause) {
        giveUp();
        if (cause instanceof ConnectException) {
            owner.onRefused(String.valueOf(cause.getMessage()));
        } else {
            owner.onFailed(cause);
        }
    }

    /** Closes it, unless it is there already. */
    public void giveUp() {
        SocketChannel unfinished = phase == Phase.OVER ? null : channel;
        phase = Phase.OVER;
        if (upgrade != null) {
            upgrade.close();
        }
        if (unfinished != null) {
            StreamReader.closeQuietly(unfinished);
            queuePair.device().eventLoop().wakeUp(); // lets go of the socket
        }
    }
}
