package trigon.policy;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import trigon.system.file.OpenFile;
import trigon.system.file.ProcessUsers;

/**
 * A policy's file, and the version of it that was accepted last. A refresh reads, verifies and compiles, which takes
 * milliseconds; {@link #current} is what came of it, for any thread.
 */
public final class PolicyFile {

    /** The largest object that is read; real ones have some kilobytes. */
    private static final int MAX_BYTES = 4 << 20;

    private final Path path;
    private final PolicyLoader loader;
    private byte @Nullable [] seen;
    private @Nullable String failure;
    private volatile @Nullable VerifiedPolicy current;

    /** The result of a refresh. */
    public sealed interface Outcome {

        /** Nothing that was not known. */
        record Unchanged() implements Outcome {}

        /** A new version, which is current from now on. */
        record Accepted(VerifiedPolicy version) implements Outcome {}

        /** A version that is refused, or a file that cannot be read: the current version stays. */
        record Refused(String reason) implements Outcome {}
    }

    public PolicyFile(Path path, PolicyLoader loader) {
        this.path = path;
        this.loader = loader;
    }

    /** As it was configured; the file may be missing. */
    public Path path() {
        return path;
    }

    /** The version that was accepted last, if any. */
    public Optional<VerifiedPolicy> current() {
        return Optional.ofNullable(current);
    }

    /** Reads the file and tries what is new in it; what was refused once is not tried again until it changes. */
    public synchronized Outcome refresh() {
        byte[] bytes;
        try {
            bytes = read();
        } catch (UntrustedFileException e) {
            return unreadable(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return unreadable("%s cannot be read: %s; give the path of a policy's object, made by clang -target bpf"
                    .formatted(path, e instanceof NoSuchFileException ? "there is no such file" : e.toString()));
        }
        failure = null;
        if (Arrays.equals(bytes, seen)) {
            return new Outcome.Unchanged();
        }
        seen = bytes;
        return attempt(bytes);
    }

    /** Reports an unreadable file, unless it was unreadable for the same reason the last time. */
    private Outcome unreadable(String reason) {
        boolean said = reason.equals(failure);
        failure = reason;
        return said ? new Outcome.Unchanged() : new Outcome.Refused(reason);
    }

    private Outcome attempt(byte[] bytes) {
        String name = String.valueOf(path.getFileName());
        try {
            VerifiedPolicy version = loader.verify(name, bytes);
            loader.check(version);
            current = version;
            return new Outcome.Accepted(version);
        } catch (PolicyException e) {
            return new Outcome.Refused(e.summary());
        }
    }

    private byte[] read() throws IOException {
        try (OpenFile file = OpenFile.open(path)) {
            checkTrusted(file, ProcessUsers.own());
            long size = file.size();
            if (size > MAX_BYTES) {
                throw new IOException("it has %d bytes, a policy's object at most %d".formatted(size, MAX_BYTES));
            }
            return file.read((int) size);
        }
    }

    /** A policy decides in this process: nobody may have a say in it who has none in the process. */
    private void checkTrusted(OpenFile file, int user) throws UntrustedFileException {
        if (!isTrusted(file.owner(), user)) {
            throw new UntrustedFileException(
                    "%s belongs to user %d, but a policy has to belong to user %d, whose process this is, or to root"
                            .formatted(path, file.owner(), user));
        }
        if (file.isWritableByOthers()) {
            throw new UntrustedFileException(
                    "others than its owner may write to %s; run: chmod go-w %s".formatted(path, path));
        }
    }

    static boolean isTrusted(int owner, int user) {
        return owner == user || owner == ProcessUsers.ROOT;
    }

    private static final class UntrustedFileException extends IOException {

        private static final long serialVersionUID = 1;

        UntrustedFileException(String message) {
            super(message);
        }
    }
}
