package trigon.tools.enable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import trigon.tools.console.UserFiles;

/**
 * A configuration file of this user's or of root's, which programs may read at any time: it is replaced at once, and
 * keeps its mode and its owner. A symbolic link stays, and what it leads to changes. Bytes stand for letters, so that
 * no text is lost. One thread.
 *
 * @param path as it is named
 */
record OwnedFile(Path path) {

    /** As ELOOP of path_resolution(7). */
    private static final int MAX_LINKS = 40;

    private static final String MODE = "rw-r--r--";

    /**
     * Reads it, each byte as a letter; empty if it is not there.
     *
     * @throws trigon.tools.console.CommandFailure if it cannot be read
     */
    Optional<String> read() {
        try {
            Path file = target();
            UserFiles.checkReplaceable(file);
            return Files.exists(file)
                    ? Optional.of(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                    : Optional.empty();
        } catch (IOException e) {
            throw UserFiles.unreadable(path, e);
        }
    }

    /** A text of this program's in such letters. */
    static String bytes(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    /**
     * Replaces its content, or removes it.
     *
     * @param text each letter a byte; empty to remove the file
     * @throws trigon.tools.console.CommandFailure if that fails; the file is then as it was
     */
    void write(Optional<String> text) {
        try {
            Path file = target();
            if (text.isEmpty()) {
                Files.deleteIfExists(file);
            } else {
                replace(file, text.get().getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException e) {
            throw UserFiles.unwritable(path, e);
        }
    }

    private static void replace(Path file, byte[] content) throws IOException {
        Path next = Files.createTempFile(file.toAbsolutePath().getParent(), ".trigon-", "");
        try {
            try (FileChannel channel = FileChannel.open(next, StandardOpenOption.WRITE)) {
                ByteBuffer rest = ByteBuffer.wrap(content);
                while (rest.hasRemaining()) {
                    var _ = channel.write(rest);
                }
                channel.force(true);
            }
            if (Files.exists(file)) {
                for (String attribute : new String[] {"unix:uid", "unix:gid"}) {
                    Object owner = Files.getAttribute(file, attribute);
                    if (!owner.equals(Files.getAttribute(next, attribute))) {
                        Files.setAttribute(next, attribute, owner);
                    }
                }
                Files.setPosixFilePermissions(next, Files.getPosixFilePermissions(file));
            } else {
                Files.setPosixFilePermissions(next, PosixFilePermissions.fromString(MODE));
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(next);
        }
    }

    /** The file itself, or what links lead to, which need not be there. */
    private Path target() throws IOException {
        Path at = path;
        for (int links = 0; Files.isSymbolicLink(at); links++) {
            if (links == MAX_LINKS) {
                throw new FileSystemException(path.toString(), null, "its symbolic links lead in a circle");
            }
            at = at.resolveSibling(Files.readSymbolicLink(at));
        }
        return at;
    }
}
