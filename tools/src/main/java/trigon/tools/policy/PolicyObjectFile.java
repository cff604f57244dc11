package trigon.tools.policy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import trigon.tools.console.CommandFailure;

/** An object that the command line names. */
final class PolicyObjectFile {

    /** What a process with such a policy reads at most. */
    private static final long MOST_BYTES = 4 << 20;

    private final Path path;
    private final byte[] bytes;

    private PolicyObjectFile(Path path, byte[] bytes) {
        this.path = path;
        this.bytes = bytes;
    }

    /** @throws CommandFailure if it cannot be read, or is too large */
    static PolicyObjectFile read(Path path) {
        try {
            long size = Files.size(path);
            if (size > MOST_BYTES) {
                throw new CommandFailure("%s has %d bytes, and a policy's object has at most %d: give the path of an"
                                .formatted(path, size, MOST_BYTES)
                        + " object made by clang -target bpf");
            }
            return new PolicyObjectFile(path, Files.readAllBytes(path));
        } catch (NoSuchFileException _) {
            throw new CommandFailure("there is no file " + path);
        } catch (IOException e) {
            throw new CommandFailure("%s cannot be read: %s".formatted(path, e));
        }
    }

    /** As the user gave it, for messages. */
    Path path() {
        return path;
    }

    /** The ELF object; a copy. */
    byte[] bytes() {
        return bytes.clone();
    }

    /** Without its folders: what messages call it. */
    String name() {
        return String.valueOf(path.getFileName());
    }
}
