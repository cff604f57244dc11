package trigon.policy.commands.tune;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;
import trigon.tools.nodes.ReachOptions;

/**
 * A policy's file at the same path on several nodes. It is replaced in one step, as processes may watch it.
 *
 * @param path the same everywhere
 * @param nodes the others
 * @param reach how to reach them
 */
record TableFile(Path path, List<String> nodes, ReachOptions reach) {

    private static final long PATIENCE_SECONDS = 60;

    /** Writes it everywhere, so that only its owner may change it. */
    void write(byte[] object) {
        Path beside = path.resolveSibling(path.getFileName() + ".new");
        try {
            Files.write(beside, object);
            Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("rw-r--r--"));
            UserFiles.checkReplaceable(path);
            Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw UserFiles.unwritable(path, e);
        }
        nodes.forEach(node -> on(node, "umask 022 && cat > \"$0.new\" && mv -f -- \"$0.new\" \"$0\"", object));
    }

    /** Deletes it, as far as that can be done. */
    void delete() {
        try {
            Files.deleteIfExists(path);
            nodes.forEach(node -> on(node, "rm -f -- \"$0\"", new byte[0]));
        } catch (IOException | CommandFailure _) {
            // the failure of what wanted the file matters more
        }
    }

    private void on(String node, String script, byte[] input) {
        List<String> command = reach.newConnection(node, List.of("sh", "-c", script, path.toString()));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (OutputStream to = process.getOutputStream()) {
                to.write(input);
            }
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroy();
                throw new IOException("the command there failed");
            }
        } catch (IOException e) {
            throw new CommandFailure("cannot write %s on %s: %s; its folder has to exist there"
                    .formatted(path, node, UserFiles.reason(e)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted while %s was written on %s".formatted(path, node));
        }
    }
}
