package trigon.transport.plugin;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import trigon.trace.Fields;
import trigon.transport.connect.ConnectedPaths;
import trigon.transport.path.PathChannel;
import trigon.transport.session.SendSession;
import trigon.transport.session.Session;
import trigon.verbs.QueuePairEndpoint;

/** What a trace says of a session. */
final class SessionFields {

    private static final int KEY_BYTES = 8;

    private SessionFields() {}

    static Fields of(@Nullable Session session, Context context, ConnectedPaths paths) {
        boolean sends = session instanceof SendSession;
        PathChannel first = paths.paths().getFirst();
        return Fields.of(
                "kind",
                sends ? "send" : "receive",
                "connection",
                connection(first, sends),
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

    /** The same at both ends, and at no other connection's: of the first path's queue pairs, the sender's first. */
    private static String connection(PathChannel first, boolean sends) {
        QueuePairEndpoint remote = first.remote();
        QueuePairEndpoint local = first.endpoint();
        String ends = sends ? name(local) + name(remote) : name(remote) + name(local);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(ends.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, KEY_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    private static String name(@Nullable QueuePairEndpoint end) {
        return end == null ? "?" : end.gid() + " " + end.number() + " " + end.psn() + ";";
    }
}
