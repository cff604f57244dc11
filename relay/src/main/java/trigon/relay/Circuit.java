package trigon.relay;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.Conversation.Step;
import trigon.stream.RefusalCause;
import trigon.stream.circuit.CircuitFormat;
import trigon.stream.circuit.CircuitOpening;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.circuit.Prologue;
import trigon.stream.hop.HopDevices;
import trigon.stream.loop.EventLoop;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.TcpEnds;

/**
 * A connection that came in, from its greeting to its end: it says what it wants, the next hop is connected, and both
 * directions are spliced; for what the ends say first by TCP, and then by whatever its two hops agree on. The relay's
 * thread alone.
 */
final class Circuit {

    enum Phase {
        AWAITS_HEADER,
        AWAITS_REST,
        CONNECTING,
        OPENING,
        UPGRADING,
        SPLICED,
        OVER
    }

    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    private final EventLoop loop;
    private final Admission admission;
    private final Host host;
    private final Side incoming;
    private final InetAddress peer;
    private final byte[] greeting;
    private final byte[] header = new byte[CircuitFormat.HEADER_BYTES];
    private Phase phase = Phase.AWAITS_HEADER;
    private ByteBuffer expected = ByteBuffer.wrap(header);
    private long deadline;
    private @Nullable CircuitRequest request;
    private @Nullable CircuitOpening opening;
    private @Nullable Side outgoing;
    private @Nullable CircuitUpgrade upgrade;
    private @Nullable Spliced spliced;
    private final List<ByteBuffer> slots = new ArrayList<>(2);
    private long movedAt;

    /** The part of a relay that a circuit needs. */
    interface Host {

        /** Returns whether there is room for one more; then it is counted, until {@link #ended}. */
        boolean admit(Circuit circuit);

        /** The time of its deadlines and of its polling. */
        long nanoTime();

        /** Devices that may carry it faster than TCP. */
        HopDevices hops();

        /** Room for what is passed on, empty, as large as the one of each other circuit. */
        ByteBuffer slot();

        /** Both directions are open. */
        void spliced(Circuit circuit);

        /** It is to be polled until it {@linkplain Circuit#pollOrSleep sleeps}. */
        void awake(Circuit circuit);

        /** Holds while the rate allows no byte: a socket that is ready stays so. */
        boolean owes();

        /** Bytes were passed on. */
        void moved(int bytes);

        /** Nothing is open any more; its slots may be used again. */
        void ended(Circuit circuit, List<ByteBuffer> slots);

        /** It is closed without having been a circuit. */
        void refused(String why);

        /** It ends for lack of memory, or by a defect. */
        void failed(Throwable cause);

        /** When a circuit that begins to connect now has to be there, by the relay's clock. */
        long connectDeadline();
    }

    Circuit(SocketChannel incoming, EventLoop loop, Admission admission, Host host, SecureRandom random, long deadline)
            throws IOException {
        this.loop = loop;
        this.admission = admission;
        this.host = host;
        this.deadline = deadline;
        byte[] nonce = new byte[16];
        random.nextBytes(nonce);
        greeting = CircuitFormat.greeting(nonce);
        incoming.configureBlocking(false);
        incoming.setOption(StandardSocketOptions.TCP_NODELAY, true);
        peer = ((InetSocketAddress) incoming.getRemoteAddress()).getAddress();
        this.incoming = new Side(incoming, loop, SelectionKey.OP_READ, this::onReady);
        this.incoming.send(greeting);
    }

    InetAddress peer() {
        return peer;
    }

    long deadline() {
        return deadline;
    }

    private void onReady(Side side) {
        try {
            switch (phase) {
                case AWAITS_HEADER -> readHeader();
                case AWAITS_REST -> readRequest();
                case CONNECTING -> connected();
                case OPENING -> open();
                case UPGRADING -> upgrade();
                case SPLICED -> {
                    if (!host.owes() && side.carrier().listen()) {
                        moved(splicedNow().onReady(side));
                    }
                }
                case OVER -> {}
            }
        } catch (IOException e) {
            broken(e);
        } catch (RuntimeException | OutOfMemoryError e) {
            failed(e);
        }
    }

    /** A failed circuit must not stop the others. */
    private void failed(Throwable cause) {
        host.failed(cause);
        close();
    }

    /** Its deadline is over. */
    void expire() {
        if (phase == Phase.AWAITS_HEADER || phase == Phase.AWAITS_REST) {
            refuse(RefusalCause.DENIED, "the request did not come in time");
        } else {
            refuse(
                    RefusalCause.of(Objects.requireNonNull(request).hops().size() == 1, null),
                    text(next()) + " did not answer in time");
        }
    }

    private void readHeader() throws IOException {
        if (!incoming.fill(expected)) {
            return;
        }
        int rest = CircuitRequest.bytesAfter(header);
        if (rest < 0) {
            refuse(RefusalCause.DENIED, "this is not a circuit request of this version");
            return;
        }
        phase = Phase.AWAITS_REST;
        expected = ByteBuffer.allocate(rest);
    }

    private void readRequest() throws IOException {
        if (!incoming.fill(expected)) {
            return;
        }
        Optional<CircuitRequest.Received> received =
                CircuitRequest.decode(greeting, header, expected.array(), admission.keys());
        if (received.isEmpty()) {
            refuse(RefusalCause.DENIED, "the requested route is invalid");
            return;
        }
        Optional<String> objection = admission.objection(received.get(), peer);
        if (objection.isPresent()) {
            refuse(RefusalCause.DENIED, objection.get());
        } else if (!host.admit(this)) {
            refuse(RefusalCause.FULL, "it already carries its maximum of circuits");
        } else {
            request = received.get().request();
            connect();
        }
    }

    private InetSocketAddress next() {
        return Objects.requireNonNull(request).hops().getFirst();
    }

    private void connect() throws IOException {
        phase = Phase.CONNECTING;
        deadline = host.connectDeadline();
        incoming.interest(0);
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        outgoing = new Side(channel, loop, SelectionKey.OP_CONNECT, this::onReady);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        InetSocketAddress from = admission.from(next().getAddress()).orElseThrow();
        if (channel.bind(from).connect(Admission.inZoneOf(from, next()))) {
            connected();
        }
    }

    private Side onwards() {
        return Objects.requireNonNull(outgoing);
    }

    private void connected() throws IOException {
        if (!onwards().socket().finishConnect()) {
            return;
        }
        onwards().interest(SelectionKey.OP_READ);
        Optional<CircuitRequest> rest = Objects.requireNonNull(request).rest();
        if (rest.isEmpty()) {
            opened();
        } else {
            opening = new CircuitOpening(rest.get(), admission.keys());
            phase = Phase.OPENING;
        }
    }

    private void open() throws IOException {
        CircuitOpening mine = Objects.requireNonNull(opening);
        if (!onwards().fill(mine.expected())) {
            return;
        }
        switch (mine.next()) {
            case Step.Read() -> {}
            case Step.Send(byte[] bytes) -> onwards().send(bytes);
            case Step.Open() -> opened();
            case Step.NotOpened(RefusalCause cause, String why) ->
                refuse(cause.fromRelayBefore(), "the relay at " + text(next()) + " refuses: " + why);
            case Step.Refused(String why) ->
                refuse(RefusalCause.NEXT_RELAY, "the relay at " + text(next()) + " refuses: " + why);
        }
    }

    /** The route is open to its end: says so, and passes on what the ends say first. */
    private void opened() throws IOException {
        incoming.relay();
        onwards().relay();
        incoming.send(CircuitFormat.opened());
        Optional<Prologue> prologue = Objects.requireNonNull(request).prologue();
        if (prologue.isEmpty()) {
            splice();
            return;
        }
        phase = Phase.UPGRADING;
        deadline = host.connectDeadline();
        upgrade = new CircuitUpgrade(incoming, onwards(), prologue.get(), host.hops(), slot(), slot());
    }

    private ByteBuffer slot() {
        ByteBuffer slot = host.slot();
        slots.add(slot);
        return slot;
    }

    private void upgrade() throws IOException {
        if (Objects.requireNonNull(upgrade).onReady()) {
            splice();
        }
    }

    private void splice() throws IOException {
        ArrayList<ByteBuffer> free = new ArrayList<>(slots);
        spliced = Spliced.of(incoming, onwards(), () -> free.isEmpty() ? slot() : free.removeLast());
        phase = Phase.SPLICED;
        host.spliced(this);
        log.debug(
                "passes on {} to {}, by {} and {}",
                peer,
                next(),
                incoming.carrier(),
                onwards().carrier());
        awaitMore();
    }

    private void awaitMore() {
        splicedNow().await();
        if (splicedNow().isPolled()) {
            movedAt = host.nanoTime();
            host.awake(this);
        }
    }

    Spliced splicedNow() {
        return Objects.requireNonNull(spliced);
    }

    private void moved(int bytes) {
        host.moved(bytes);
        if (splicedNow().isOver()) {
            close();
        } else {
            awaitMore();
        }
    }

    /**
     * Passes on what no selector tells of. If nothing has come for so long and nothing is on its way, it sleeps: its
     * neighbours wake it for what they send from now on, and not for what has come. While something is on its way it is
     * polled, and its neighbours wake it as if it slept.
     *
     * @param quietNanos since the last byte
     * @return true if it need not be polled any more
     */
    boolean pollOrSleep(long quietNanos) {
        try {
            int bytes = splicedNow().poll();
            boolean sleeps = bytes == 0
                    && host.nanoTime() - movedAt >= quietNanos
                    && !splicedNow().isOver();
            if (sleeps) {
                bytes = splicedNow().sleep();
            }
            if (bytes > 0) {
                movedAt = host.nanoTime();
                host.moved(bytes);
            }
            if (splicedNow().isOver()) {
                close();
                return true;
            }
            splicedNow().await();
            return sleeps && bytes == 0 && !splicedNow().isSending();
        } catch (IOException e) {
            broken(e);
        } catch (RuntimeException | OutOfMemoryError e) {
            failed(e);
        }
        return true;
    }

    /**
     * Ends it, through which nothing moves, if nobody answers on one of its connections; or if a side has ended, and
     * all that was passed on has arrived: what the other side still holds open would stay for ever if the first is
     * gone.
     *
     * @param unanswered connections on which the kernel sends again and again
     * @param unacknowledged connections with something that has not arrived yet
     */
    void endIfStuck(Set<TcpEnds> unanswered, Set<TcpEnds> unacknowledged) throws IOException {
        List<TcpEnds> both = List.of(incoming.ends(), onwards().ends());
        if (both.stream().anyMatch(unanswered::contains)) {
            broken(new IOException("a neighbour acknowledges nothing any more"));
        } else if (splicedNow().isHalfOver() && both.stream().noneMatch(unacknowledged::contains)) {
            broken(new IOException("one side has ended, and nothing has come from the other for a while"));
        }
    }

    /** Tells who asked, as far as it listens, and ends. */
    void refuse(RefusalCause cause, String why) {
        if (phase == Phase.OVER) {
            return;
        }
        host.refused("a circuit for " + InterfaceAddress.text(peer) + " is refused: " + why);
        try {
            incoming.send(CircuitFormat.refused(cause, why));
        } catch (IOException e) {
            log.debug("{} is gone: {}", peer, e.toString());
        }
        close();
    }

    private void broken(IOException cause) {
        switch (phase) {
            case CONNECTING, OPENING ->
                refuse(
                        RefusalCause.of(Objects.requireNonNull(request).hops().size() == 1, cause),
                        "%s cannot be reached from the relay: %s".formatted(text(next()), cause.getMessage()));
            case UPGRADING, SPLICED -> {
                log.debug("between {} and {}: {}", peer, next(), cause.toString());
                incoming.reset();
                onwards().reset();
                close();
            }
            case AWAITS_HEADER, AWAITS_REST, OVER -> close();
        }
    }

    void close() {
        if (phase == Phase.OVER) {
            return;
        }
        phase = Phase.OVER;
        incoming.close();
        if (outgoing != null) {
            outgoing.close();
        }
        host.ended(this, slots);
    }

    private static String text(InetSocketAddress address) {
        return InterfaceAddress.text(address.getAddress()) + ":" + address.getPort();
    }
}
