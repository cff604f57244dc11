package trigon.relay;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.hop.HopDevices;
import trigon.stream.loop.Acceptor;
import trigon.stream.loop.EventLoop;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.system.PortRange;

/**
 * A relay: listens on this node's link addresses, and passes on the connections of whoever is admitted. Its thread,
 * {@value #THREAD_NAME}, is a daemon, and is not there before it is {@linkplain #start started}. The methods may be
 * called from any thread.
 */
public final class Relay implements AutoCloseable {

    /** The thread that serves all circuits of the process, as thread dumps name it. */
    public static final String THREAD_NAME = "trigon-relay-0";

    private static final Logger log = LoggerFactory.getLogger(Relay.class);
    private static final int BACKLOG = 1024;
    private static final long LOOK_NANOS = 5_000_000;

    private final Map<InetAddress, ServerSocketChannel> listeners = new HashMap<>();
    private final EventLoop loop;
    private final Circuits circuits;
    private final NanoClock clock;
    private final CountDownLatch ended = new CountDownLatch(1);

    private Relay(Admission admission, RelayLimits limits, HopDevices hops, NanoClock clock) {
        this.clock = clock;
        loop = new EventLoop(THREAD_NAME, "other nodes can no longer relay through this node", clock);
        circuits = new Circuits(loop, admission, limits, hops, StillCircuits.KERNEL, clock);
        loop.watch(new Service());
    }

    /** The circuits, as the event loop has them. Once it gives them up, no more are taken: they would never end. */
    private final class Service implements EventLoop.Watched {

        @Override
        public long look() {
            return circuits.look();
        }

        @Override
        public void onEnd() {
            ended.countDown();
            listeners.values().forEach(Relay::closeQuietly);
            circuits.onEnd();
        }

        @Override
        public String toString() {
            return "the relay";
        }
    }

    private static void closeQuietly(ServerSocketChannel listener) {
        try {
            listener.close();
        } catch (IOException e) {
            log.debug("{} cannot be closed", listener, e);
        }
    }

    /**
     * Opens one. Connections wait in the kernel's queues until it is started.
     *
     * @param links the addresses to listen on, and to pass on from
     * @param ports of the listeners, a free one for each
     * @param keys what admits
     * @param hops what may carry circuits faster than TCP; stay the caller's
     * @throws IOException if no address can be listened on; nothing is left open then
     */
    public static Relay open(
            List<InterfaceAddress> links,
            PortRange ports,
            CircuitKeys keys,
            RelayRule rule,
            RelayLimits limits,
            HopDevices hops)
            throws IOException {
        return open(new Admission(List.copyOf(links), keys, rule), ports, limits, hops, NanoClock.SYSTEM);
    }

    static Relay open(Admission admission, PortRange ports, RelayLimits limits, HopDevices hops, NanoClock clock)
            throws IOException {
        Relay relay = new Relay(admission, limits, hops, clock);
        try {
            relay.listen(admission, ports);
        } catch (IOException e) {
            relay.close();
            throw e;
        }
        log.debug("relays at {}", relay.listeners);
        return relay;
    }

    /** Listens where it can: an address may have gone since it was found. */
    private void listen(Admission admission, PortRange ports) throws IOException {
        IOException failure = null;
        for (InterfaceAddress link : admission.links()) {
            try {
                listen(admission.zoned(link.address()), ports);
            } catch (BindException e) {
                failure = new IOException(
                        "the relay cannot listen on %s, %s port: %s"
                                .formatted(InterfaceAddress.text(link.address()), ports, e.getMessage()),
                        e);
                log.info("not relayed over {}: {}", link, failure.getMessage());
            }
        }
        if (listeners.isEmpty() && failure != null) {
            throw failure;
        }
    }

    private void listen(InetAddress address, PortRange ports) throws IOException {
        if (!listeners.containsKey(address)) {
            listeners.put(address, ports.bind(port -> listener(new InetSocketAddress(address, port))));
        }
    }

    private ServerSocketChannel listener(InetSocketAddress address) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open();
        try {
            listener.configureBlocking(false);
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(address, BACKLOG);
            Acceptor.prepare(loop, listener, circuits);
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        return listener;
    }

    /** Has its thread made, unless there is one: from now on it passes on. */
    public void start() {
        loop.wakeUp();
    }

    /** The channels that it listens on: the first connection that comes there is what it is to be started for. */
    public List<SelectableChannel> channels() {
        return List.copyOf(listeners.values());
    }

    /** The port that it listens on at an address; 0 if it does not listen there. */
    public int port(InetAddress address) {
        ServerSocketChannel listener = listeners.get(address);
        return listener == null ? 0 : listener.socket().getLocalPort();
    }

    /** Returns whether it is closed, or a failure has ended it, which the log tells: it passes on nothing any more. */
    public boolean hasEnded() {
        return ended.getCount() == 0;
    }

    public RelayCounts counts() {
        return circuits.counts();
    }

    /**
     * Waits until all circuits have ended, for who is about to end the relay's process: bytes that it has taken and not
     * passed on would be lost. Circuits through which nothing moves are not waited for longer than a while.
     *
     * @param quiet after so long without a byte it gives up
     * @param most it does not wait longer than this
     * @return how many circuits are left
     */
    public long drain(Duration quiet, Duration most) {
        long begin = clock.nanoTime();
        long lastMove = begin;
        long bytes = counts().bytes();
        while (counts().circuits() > 0) {
            long now = clock.nanoTime();
            if (counts().bytes() != bytes) {
                bytes = counts().bytes();
                lastMove = now;
            }
            if (now - lastMove >= quiet.toNanos() || now - begin >= most.toNanos()) {
                break;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return counts().circuits();
    }

    /** Ends all circuits and the thread; returns when that has been done. Closing twice is allowed. */
    @Override
    public void close() {
        loop.close();
    }
}
