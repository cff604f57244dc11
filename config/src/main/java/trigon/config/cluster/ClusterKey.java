package trigon.config.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.config.setting.ConfigException;
import trigon.config.setting.Source;

/**
 * A secret that all nodes of a cluster have in a file, and nobody else. With it, whoever gets hold of a listen handle
 * still cannot connect. Immutable; its bytes are never printed.
 */
public final class ClusterKey {

    /** Shorter keys are refused: they could be guessed. */
    static final int MIN_BYTES = 32;

    /** Longer files are refused: they are something else. */
    static final int MAX_BYTES = 4096;

    private static final int FINGERPRINT_BYTES = 4;
    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.of(
            PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_EXECUTE);
    private static final Set<PosixFilePermission> OF_THE_GROUP = EnumSet.of(
            PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_WRITE, PosixFilePermission.GROUP_EXECUTE);
    private static final int ROOT = 0;

    private final Path file;
    private final byte[] bytes;

    /**
     * A key of these bytes.
     *
     * @param file where it is from
     * @throws IllegalArgumentException if there are too few of them
     */
    public ClusterKey(Path file, byte[] bytes) {
        if (bytes.length < MIN_BYTES) {
            throw new IllegalArgumentException(
                    "its key has %d bytes, fewer than the minimum of %d; make one with: openssl rand -hex 32"
                            .formatted(bytes.length, MIN_BYTES));
        }
        this.file = file;
        this.bytes = bytes.clone();
    }

    /**
     * Reads a key: all bytes of the file but white space at its end.
     *
     * @param source where the file was named, for errors
     * @throws ConfigException if it cannot be read, others than its owner may read it, or it is too short or too long
     */
    public static ClusterKey read(Path file, Source source) {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw unusable(file, source, "it is not a regular file", null);
        }
        try (InputStream in = Files.newInputStream(file)) {
            requirePrivate(file, source);
            byte[] content = in.readNBytes(MAX_BYTES + 1);
            if (content.length > MAX_BYTES) {
                throw unusable(file, source, "it is longer than " + MAX_BYTES + " bytes", null);
            }
            return new ClusterKey(file, withoutWhiteSpaceAtTheEnd(content));
        } catch (IllegalArgumentException e) {
            throw unusable(file, source, String.valueOf(e.getMessage()), e);
        } catch (IOException | SecurityException e) {
            String reason = Files.exists(file) ? "it cannot be read: " + e : "there is no such file";
            throw unusable(file, source, reason, e);
        }
    }

    /** As ssh asks of its keys; but root may share one with a group. */
    private static void requirePrivate(Path file, Source source) throws IOException {
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
        EnumSet<PosixFilePermission> tooMany = EnumSet.copyOf(OF_OTHERS);
        tooMany.addAll(OF_THE_GROUP);
        if (Integer.valueOf(ROOT).equals(Files.getAttribute(file, "unix:uid"))) {
            tooMany.remove(PosixFilePermission.GROUP_READ);
        }
        tooMany.retainAll(permissions);
        if (!tooMany.isEmpty()) {
            throw unusable(
                    file,
                    source,
                    "others than its owner can use it (%s), so it is not secret; run: chmod 600 %s"
                            .formatted(PosixFilePermissions.toString(permissions), file),
                    null);
        }
    }

    private static byte[] withoutWhiteSpaceAtTheEnd(byte[] content) {
        int end = content.length;
        while (end > 0 && " \t\r\n".indexOf(content[end - 1]) >= 0) {
            end--;
        }
        return Arrays.copyOf(content, end);
    }

    private static ConfigException unusable(Path file, Source source, String why, @Nullable Exception cause) {
        String message = "the cluster key file %s, which %s names, cannot be used: %s".formatted(file, source, why);
        return cause == null ? new ConfigException(message) : new ConfigException(message, cause);
    }

    /** A copy of its bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Tells keys apart in logs: 8 hexadecimal digits of a hash, from which a random key cannot be found. */
    public String fingerprint() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update("Trigon cluster key".getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(digest.digest(bytes), 0, FINGERPRINT_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java runtime has SHA-256", e);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ClusterKey key && MessageDigest.isEqual(bytes, key.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** As in a log: {@code /etc/trigon/cluster.key, fingerprint 1a2b3c4d}. */
    @Override
    public String toString() {
        return file + ", fingerprint " + fingerprint();
    }
}
