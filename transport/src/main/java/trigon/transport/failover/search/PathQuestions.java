package trigon.transport.failover.search;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.connect.Question;
import trigon.handshake.message.ConnectionId;
import trigon.routing.Path;
import trigon.system.NanoClock;
import trigon.transport.connect.Counterpart;

/** Questions over paths, which connections with the same process share, and what is known of paths by them. */
public final class PathQuestions {

    private final HandshakeClient client;
    private final SharedQuestions questions;

    /** Makes one that asks by a client, and measures an answer's age by that clock. */
    public PathQuestions(HandshakeClient client, NanoClock clock) {
        this.client = client;
        questions = new SharedQuestions(clock);
    }

    /**
     * Asks over a path whether a peer lives. Between the same link-local addresses, there may be a path through relays
     * as well.
     *
     * @param connection the peer's end of it
     */
    Question ask(Counterpart peer, ConnectionId connection, Path path) {
        boolean direct = path.reason().isLinkLocal();
        return questions.ask(
                new SharedQuestions.AskedPath(local(path), remote(path), direct),
                () -> direct
                        ? client.askDirectly(local(path), remote(path), peer.secret(), connection)
                        : client.ask(local(path), remote(path), peer.secret(), connection));
    }

    /** Tells whether packets of the full size are known to be lost over that path. */
    boolean isNarrow(Path path) {
        return client.isNarrow(local(path), remote(path));
    }

    private static InetAddress local(Path path) {
        return path.local().bindAddress();
    }

    private static InetSocketAddress remote(Path path) {
        return new InetSocketAddress(path.remote().address(), path.remote().tcpPort());
    }
}
