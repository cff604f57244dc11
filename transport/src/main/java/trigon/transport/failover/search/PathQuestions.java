package trigon.transport.failover.search;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.connect.Question;
import trigon.handshake.message.ConnectionId;
import trigon.routing.Path;
import trigon.system.NanoClock;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.search.SharedQuestions.AskedPath;
import trigon.transport.failover.search.SharedQuestions.Manner;

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
     * Asks over a path whether a peer lives.
     *
     * @param connection the peer's end of it
     */
    Question ask(Counterpart peer, ConnectionId connection, Path path) {
        return ask(peer, connection, path, Manner.SOON);
    }

    /** Asks over a path whether a peer lives, and frames of the full size pass. */
    Question check(Counterpart peer, Path path) {
        return ask(peer, peer.connection(), path, Manner.FULL_SIZE);
    }

    /** Between the same link-local addresses, there may be a path through relays as well. */
    private Question ask(Counterpart peer, ConnectionId connection, Path path, Manner otherwise) {
        Manner how = path.reason().isLinkLocal() ? Manner.DIRECT : otherwise;
        return questions.ask(new AskedPath(local(path), remote(path), how), () -> switch (how) {
            case SOON -> client.greet(local(path), remote(path), peer.secret(), connection);
            case FULL_SIZE -> client.ask(local(path), remote(path), peer.secret(), connection);
            case DIRECT -> client.askDirectly(local(path), remote(path), peer.secret(), connection);
        });
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
