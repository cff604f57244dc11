package trigon.transport.path;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import trigon.verbs.QueuePairEndpoint;

/** A connection's name in traces: the same at both ends, at no other's, and whatever paths it takes later. */
public final class ConnectionDigest {

    private static final int BYTES = 8;

    private ConnectionDigest() {}

    /** Digests both queue pairs of a connection's first path, the sender's first. */
    public static String of(PathChannel first, boolean sends) {
        QueuePairEndpoint remote = first.remote();
        QueuePairEndpoint local = first.endpoint();
        String ends = sends ? name(local) + name(remote) : name(remote) + name(local);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(ends.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    private static String name(@Nullable QueuePairEndpoint end) {
        return end == null ? "?" : end.gid() + " " + end.number() + " " + end.psn() + ";";
    }
}
