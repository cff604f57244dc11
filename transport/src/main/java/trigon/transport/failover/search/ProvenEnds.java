package trigon.transport.failover.search;

import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.transport.path.PathChannel;

/**
 * The pairs of addresses over which one connection's peer has proven itself: when the connection was made, when it was
 * asked, or by a path in use. Nobody but the peer can do so, but anybody can refuse: a firewall, another process, or
 * another machine that has the same address. Thread-safe.
 */
public final class ProvenEnds {

    private record Ends(String interfaceName, InetAddress local, InetAddress remote) {

        Ends(LocalLink local, InetAddress remote) {
            this(local.interfaceName(), local.address().address(), remote);
        }
    }

    private final Set<Ends> known = ConcurrentHashMap.newKeySet();

    /** The peer has proven itself there. */
    public void add(Path path) {
        known.add(new Ends(path.local(), path.remote().address()));
    }

    /** The same for a path that both ends have brought up. */
    public void add(PathChannel path) {
        InetAddress remote = path.peerAddress();
        if (remote != null) {
            known.add(new Ends(path.link().local(), remote));
        }
    }

    boolean has(Path path) {
        return known.contains(new Ends(path.local(), path.remote().address()));
    }
}
