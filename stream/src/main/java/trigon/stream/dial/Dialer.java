package trigon.stream.dial;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import trigon.stream.Conversation;
import trigon.stream.circuit.CircuitRoutes;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;
import trigon.stream.circuit.JobKeys;
import trigon.stream.circuit.Prologue;
import trigon.stream.hop.HopDevices;
import trigon.stream.hop.HopUpgrade;
import trigon.system.NanoClock;

/**
 * Opens streams from a link's own address to a peer, straight or through relays. A stream through relays goes by RDMA
 * where a hop has it, and by TCP elsewhere. Thread-safe; does not block.
 */
public final class Dialer {

    private static final HopDevices NO_DEVICES = new HopDevices(List.of(), 0);

    /** Every peer is reached without a relay. */
    public static final Dialer DIRECT = over(CircuitRoutes.NONE);

    private final CircuitRoutes routes;
    private final HopDevices devices;
    private final JobKeys jobKeys;
    private final NarrowPaths narrow = new NarrowPaths(NanoClock.SYSTEM);
    private final NarrowPaths narrowForRdma = new NarrowPaths(NanoClock.SYSTEM);

    /**
     * A dialer.
     *
     * @param routes which peers are behind relays
     * @param devices what may carry hops faster than TCP; stay the caller's
     */
    public Dialer(CircuitRoutes routes, HopDevices devices) {
        this.routes = routes;
        this.devices = devices;
        jobKeys = routes.keys().job();
    }

    /** A dialer all of whose hops stay on TCP. */
    public static Dialer over(CircuitRoutes routes) {
        return new Dialer(routes, NO_DEVICES);
    }

    /** Returns whether a stream from a link's own address to a peer goes through relays. */
    public boolean usesRelays(InetAddress local, InetAddress peer) {
        return routes.leadTo(local, peer);
    }

    /**
     * The beginning of a stream by TCP, for who has the socket.
     *
     * @param local the address to connect from
     * @param peer the other end
     */
    public FirstHop firstHop(InetAddress local, InetSocketAddress peer) {
        Optional<CircuitRoute> route = routes.from(local, peer);
        InetSocketAddress first = route.map(CircuitRoute::first).orElse(peer);
        return new FirstHop(first, route, narrow.segmentBytes(local, first.getAddress()));
    }

    /** The same without a relay, whatever the routes are. */
    public FirstHop directly(InetAddress local, InetSocketAddress peer) {
        return new FirstHop(peer, Optional.empty(), narrow.segmentBytes(local, peer.getAddress()));
    }

    /** The keys of this process's job, for peers that have proven themselves. */
    public JobKeys jobKeys() {
        return jobKeys;
    }

    /** The pairs of addresses between which frames of the full size are lost. */
    public NarrowPaths narrowPaths() {
        return narrow;
    }

    /** The pairs between which RDMA's are, though TCP's may pass: a switch has an MTU for each class of traffic. */
    public NarrowPaths narrowForRdma() {
        return narrowForRdma;
    }

    /**
     * A stream that does nothing before it is started.
     *
     * @param local the address to connect from
     * @param peer the other end
     * @param said what both ends say first, before a hop goes by anything but TCP
     */
    public PendingStream dial(InetAddress local, InetSocketAddress peer, Prologue said) {
        FirstHop firstHop = firstHop(local, peer);
        Optional<CircuitRoute> route = firstHop.route();
        if (route.isEmpty()) {
            return new PendingStream(local, firstHop, null, null);
        }
        Conversation opening =
                devices.isEmpty() ? route.get().opening() : route.get().opening(said);
        InetAddress relay = firstHop.address().getAddress();
        HopUpgrade upgrade = devices.isEmpty() ? null : HopUpgrade.ofDialer(devices, local, relay);
        return new PendingStream(local, firstHop, opening, upgrade);
    }

    /**
     * The last hop of a circuit that was accepted at an address of this node, before anything is said of it.
     *
     * @param relay the address of the last relay
     */
    public HopUpgrade accept(InetAddress local, InetAddress relay) {
        return HopUpgrade.ofAccepter(devices, local, relay);
    }
}
