package trigon.tools.up;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import trigon.system.PrintableText;
import trigon.tools.nodes.ReachOptions;

/** Scripts by ssh, or on this machine. A script travels by standard input, so that no command line has a part of it. */
final class RemoteShell implements NodeShell {

    static final int MAX_OUT = 4 << 20;

    private static final int MAX_COMPLAINT = 300;
    private static final int MAX_ERR = 1 << 16;
    private static final long SECONDS = 120;

    /** Reads the script up to its last byte and no further. One that is cut off does not run. */
    private static final String READ =
            "LC_ALL=C; PATH=/usr/sbin:/usr/bin:/sbin:/bin; export LC_ALL PATH; while read -r l; do case $l in"
                    + " \"trigon \"*) break ;; esac; done; eval \"$(dd bs=1 count=\"${l#trigon }\" 2>/dev/null)\"";

    private final ReachOptions reach;
    private final String hostName;
    private final Optional<byte[]> password;

    /**
     * Runs nothing yet.
     *
     * @param hostName of this machine, whose scripts need no connection
     * @param password of sudo on the nodes; empty where it asks for none
     */
    RemoteShell(ReachOptions reach, String hostName, Optional<byte[]> password) {
        this.reach = reach;
        this.hostName = hostName;
        this.password = password;
    }

    @Override
    public Answer run(String node, boolean root, String script, Input input) throws IOException {
        String outer = root ? asRoot(password.isPresent() ? "-S -p ''" : "-n") : "exec sh -c \"$0\"";
        List<String> words = List.of("sh", "-c", outer, READ);
        List<String> command = node.equals(hostName) ? words : reach.newConnection(node, words);
        Process process = new ProcessBuilder(new ArrayList<>(command)).start();
        try {
            CompletableFuture<String> out = read(process.getInputStream(), MAX_OUT, process);
            CompletableFuture<String> err = read(process.getErrorStream(), MAX_ERR, process);
            Thread.ofVirtual().start(() -> write(process, root, script, input));
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("no answer within " + SECONDS + " s");
            }
            return new Answer(process.exitValue(), out.get(), complaint(err.get()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IOException(String.valueOf(e.getMessage()), e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String asRoot(String options) {
        return "if [ \"$(id -u)\" = 0 ]; then exec sh -c \"$0\"; else exec sudo %s sh -c \"$0\"; fi".formatted(options);
    }

    /** A failure shows in the exit status of what does not get all of it. */
    private void write(Process process, boolean root, String script, Input input) {
        byte[] text = ("{\n" + script + "\n}\n").getBytes(StandardCharsets.UTF_8);
        try (OutputStream to = process.getOutputStream()) {
            if (root && password.isPresent()) {
                to.write(password.get());
                to.write('\n');
            }
            to.write("trigon %d\n".formatted(text.length).getBytes(StandardCharsets.UTF_8));
            to.write(text);
            input.writeTo(to);
        } catch (IOException _) {
            return; // it has ended
        }
    }

    private static CompletableFuture<String> read(InputStream from, int most, Process process) {
        CompletableFuture<String> all = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try {
                bytes.writeBytes(from.readNBytes(most));
                if (from.read() >= 0) {
                    process.destroyForcibly(); // nobody says so much who means well
                }
            } catch (IOException _) {
                // it has been killed
            }
            all.complete(bytes.toString(StandardCharsets.UTF_8));
        });
        return all;
    }

    private static String complaint(String err) {
        String text = PrintableText.of(err.strip().replaceAll("\\s*\n\\s*", "; "));
        return text.length() > MAX_COMPLAINT ? "..." + text.substring(text.length() - MAX_COMPLAINT) : text;
    }
}
