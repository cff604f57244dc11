package trigon.transport.plugin;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import trigon.trace.Fields;
import trigon.transport.connect.ConnectedPaths;
import trigon.transport.path.ConnectionDigest;
import trigon.transport.path.PathChannel;
import trigon.transport.session.SendSession;
import trigon.transport.session.Session;

/** A session's fields in a trace. */
final class SessionFields {

    private SessionFields() {}

    static Fields of(@Nullable Session session, Context context, ConnectedPaths paths) {
        boolean sends = session instanceof SendSession;
        PathChannel first = paths.paths().getFirst();
        return Fields.of(
                "kind",
                sends ? "send" : "receive",
                "connection",
                ConnectionDigest.of(first, sends),
                "communicator",
                Long.toHexString(context.commId()),
                "protocol",
                paths.protocol(),
                "peer",
                first.peer(),
                "links",
                all(paths.paths(), path -> path.link().local().deviceName()),
                "addresses",
                all(
                        paths.paths(),
                        path -> path.link().local().address().address().getHostAddress()),
                "qps",
                all(paths.paths(), path -> "0x%06x".formatted(path.endpoint().number())));
    }

    private static String all(List<PathChannel> paths, Function<PathChannel, String> of) {
        return paths.stream().map(of).collect(Collectors.joining(","));
    }
}
