package trigon.transport.connect;

import java.util.List;
import trigon.transport.path.PathChannel;
import trigon.transport.protocol.MessageProtocol;

/**
 * The parts of a session: paths that are up at both ends.
 *
 * @param protocol what they are up for
 * @param paths in the order that both ends know; at least one
 * @param peer the other end
 * @param resumable whether both ends can go on over other paths
 */
public record ConnectedPaths(MessageProtocol protocol, List<PathChannel> paths, Counterpart peer, boolean resumable)
        implements AutoCloseable {

    @Override
    public void close() {
        paths.forEach(PathChannel::close);
    }
}
