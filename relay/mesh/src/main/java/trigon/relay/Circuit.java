package trigon.relay;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.circuit.CircuitFormat;
import trigon.circuit.CircuitOpening;
import trigon.circuit.CircuitOpening.Step;
import trigon.circuit.CircuitRequest;
import trigon.system.InterfaceAddress;

/**
 * A connection that came in, from its greeting to its end: it says what it wants, the way on is connected, then both
 * directions are spliced. The relay's thread alone.
 */
final class Circuit {

    enum Phase {
        AWAITS_HEADER,
        AWAITS_REST,
        CONNECTING,
        OPENING,
        SPLICED,
        OVER
    }

    /** What is on its way on a link is bounded, so that the node's own traffic finds room there. */
    private static final int SEND_BUFFER_BYTES = 256 << 10;

    /** ip(7), "maximize throughput": a queue with bands takes the node's own packets first. */
    private static final int BULK = 0x08;

    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    private final Selector selector;
    private final Admission admission;
    private final Host host;
    private final SocketChannel incoming;
    private final SelectionKey incomingKey;
    private final InetAddress peer;
    private final byte[] greeting;
    private final byte[] header = new byte[CircuitFormat.HEADER_BYTES];

    private Phase phase = Phase.AWAITS_HEADER;
    private ByteBuffer expected = ByteBuffer.wrap(header);
    private long deadline;
    private @Nullable CircuitRequest request;
    private @Nullable CircuitOpening opening;
    private @Nullable SocketChannel outgoing;
    private @Nullable SelectionKey outgoingKey;
    private @Nullable Splice onward;
    private @Nullable Splice back;

    /** What a circuit needs of its relay. */
    interface Host {

        /** Whether there is room for one more; then it is counted, until {@link #ended}. */
        boolean admit(Circuit circuit);

        /** Room for what is passed on, empty, as large as the one of each other circuit. */
        ByteBuffer slot();

        /** Both directions are open. */
        void spliced(Circuit circuit);

        /** Bytes were passed on. */
        void moved(int bytes);

        /** Nothing is open any more; its slots may be used again. */
        void ended(Circuit circuit, @Nullable Splice onward, @Nullable Splice back);

        /** It is closed without having been a circuit. */
        void refused(String why);

        /** When a circuit that begins to connect now has to be there, by the relay's clock. */
        long connectDeadline();
    }

    Circuit(
            SocketChannel incoming,
            Selector selector,
            Admission admission,
            Host host,
            SecureRandom random,
            long deadline)
            throws IOException {
        this.incoming = incoming;
        this.selector = selector;
        this.admission = admission;
        this.host = host;
        this.deadline = deadline;
        byte[] nonce = new byte[16];
        random.nextBytes(nonce);
        greeting = CircuitFormat.greeting(nonce);
        incoming.configureBlocking(false);
        incoming.setOption(StandardSocketOptions.TCP_NODELAY, true);
        peer = ((InetSocketAddress) incoming.getRemoteAddress()).getAddress();
        incomingKey = incoming.register(selector, SelectionKey.OP_READ, this);
        if (incoming.write(ByteBuffer.wrap(greeting)) != greeting.length) {
            throw new IOException("a fresh socket takes no greeting");
        }
    }

    InetAddress peer() {
        return peer;
    }

    boolean isSpliced() {
        return phase == Phase.SPLICED;
    }

    long deadline() {
        return deadline;
    }

    /** One of its sockets is ready. */
    void onReady(SelectionKey key) {
        try {
            switch (phase) {
                case AWAITS_HEADER -> readHeader();
                case AWAITS_REST -> readRequest();
                case CONNECTING -> connected();
                case OPENING -> open();
                case SPLICED -> splice(key);
                case OVER -> {}
            }
        } catch (IOException e) {
            broken(e);
        }
    }

    /** Its deadline is over. */
    void expire() {
        refuse(
                phase == Phase.AWAITS_HEADER || phase == Phase.AWAITS_REST
                        ? "the request did not come in time"
                        : next() + " did not answer in time");
    }

    private boolean isRead(SocketChannel channel, ByteBuffer into) throws IOException {
        if (channel.read(into) < 0) {
            throw new IOException("it was closed");
        }
        return !into.hasRemaining();
    }

    private void readHeader() throws IOException {
        if (!isRead(incoming, expected)) {
            return;
        }
        int rest = CircuitRequest.bytesAfter(header);
        if (rest < 0) {
            refuse("that is no request for a circuit of this version");
            return;
        }
        phase = Phase.AWAITS_REST;
        expected = ByteBuffer.allocate(rest);
    }

    private void readRequest() throws IOException {
        if (!isRead(incoming, expected)) {
            return;
        }
        Optional<CircuitRequest.Received> received =
                CircuitRequest.decode(greeting, header, expected.array(), admission.keys());
        if (received.isEmpty()) {
            refuse("the way that it asks for is none");
            return;
        }
        Optional<String> objection = admission.objection(received.get(), peer);
        if (objection.isPresent()) {
            refuse(objection.get());
        } else if (!host.admit(this)) {
            refuse("it has as many circuits as it may have");
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
        incomingKey.interestOps(0);
        SocketChannel channel = SocketChannel.open();
        outgoing = channel;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.bind(admission.from(next().getAddress()).orElseThrow());
        boolean atOnce = channel.connect(next());
        outgoingKey = channel.register(selector, SelectionKey.OP_CONNECT, this);
        if (atOnce) {
            connected();
        }
    }

    private SocketChannel onwards() {
        return Objects.requireNonNull(outgoing);
    }

    private void connected() throws IOException {
        if (!onwards().finishConnect()) {
            return;
        }
        Objects.requireNonNull(outgoingKey).interestOps(SelectionKey.OP_READ);
        Optional<CircuitRequest> rest = Objects.requireNonNull(request).rest();
        if (rest.isEmpty()) {
            spliceBoth();
        } else {
            opening = new CircuitOpening(rest.get(), admission.keys());
            phase = Phase.OPENING;
        }
    }

    private void open() throws IOException {
        CircuitOpening mine = Objects.requireNonNull(opening);
        if (!isRead(onwards(), mine.expected())) {
            return;
        }
        switch (mine.next()) {
            case Step.Read() -> {}
            case Step.Send(byte[] bytes) -> {
                if (onwards().write(ByteBuffer.wrap(bytes)) != bytes.length) {
                    throw new IOException("a fresh socket takes no request");
                }
            }
            case Step.Open() -> spliceBoth();
            case Step.Refused(String why) -> refuse("the relay at " + text(next()) + " refuses: " + why);
        }
    }

    private void spliceBoth() throws IOException {
        relayed(incoming);
        relayed(onwards());
        byte[] opened = CircuitFormat.opened();
        if (incoming.write(ByteBuffer.wrap(opened)) != opened.length) {
            throw new IOException("a socket takes no reply");
        }
        phase = Phase.SPLICED;
        onward = new Splice(incoming, onwards(), host.slot());
        back = new Splice(onwards(), incoming, host.slot());
        host.spliced(this);
        updateInterests();
        log.debug("passes on {} to {}", peer, next());
    }

    private static void relayed(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
        channel.setOption(StandardSocketOptions.IP_TOS, BULK);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    private void splice(SelectionKey key) throws IOException {
        Splice there = Objects.requireNonNull(onward);
        Splice here = Objects.requireNonNull(back);
        boolean fromClient = key.equals(incomingKey);
        int moved = 0;
        if (key.isReadable()) {
            moved += (fromClient ? there : here).step();
        }
        if (key.isWritable()) {
            moved += (fromClient ? here : there).step();
        }
        host.moved(moved);
        if (there.isOver() && here.isOver()) {
            close();
        } else {
            updateInterests();
        }
    }

    private void updateInterests() {
        Splice there = Objects.requireNonNull(onward);
        Splice here = Objects.requireNonNull(back);
        interest(incomingKey, there.wantsToRead(), here.wantsToWrite());
        interest(Objects.requireNonNull(outgoingKey), here.wantsToRead(), there.wantsToWrite());
    }

    private static void interest(SelectionKey key, boolean reads, boolean writes) {
        int wanted = (reads ? SelectionKey.OP_READ : 0) | (writes ? SelectionKey.OP_WRITE : 0);
        if (key.interestOps() != wanted) {
            key.interestOps(wanted);
        }
    }

    /** Tells who asked, as far as it listens, and ends. */
    void refuse(String why) {
        if (phase == Phase.OVER) {
            return;
        }
        host.refused("a circuit for " + InterfaceAddress.text(peer) + " is refused: " + why);
        try {
            incoming.write(ByteBuffer.wrap(CircuitFormat.refused(why)));
        } catch (IOException e) {
            log.debug("{} is gone: {}", peer, e.toString());
        }
        close();
    }

    private void broken(IOException cause) {
        switch (phase) {
            case CONNECTING, OPENING ->
                refuse("%s cannot be reached from the relay: %s".formatted(text(next()), cause.getMessage()));
            case SPLICED -> {
                log.debug("between {} and {}: {}", peer, next(), cause.toString());
                reset(incoming);
                reset(onwards());
                close();
            }
            case AWAITS_HEADER, AWAITS_REST, OVER -> close();
        }
    }

    /** The end is to see that its connection broke, and not that it ended. */
    private static void reset(SocketChannel channel) {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException e) {
            log.debug("{} is closed already", channel, e);
        }
    }

    void close() {
        if (phase == Phase.OVER) {
            return;
        }
        phase = Phase.OVER;
        closeQuietly(incoming);
        if (outgoing != null) {
            closeQuietly(outgoing);
        }
        host.ended(this, onward, back);
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            log.debug("{} cannot be closed", channel, e);
        }
    }

    private static String text(InetSocketAddress address) {
        return InterfaceAddress.text(address.getAddress()) + ":" + address.getPort();
    }
}
