package trigon.tools.up;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Keys that an ssh server shows, of which this machine knows none yet. */
record HostKeys(SshTarget target, List<Key> keys) {

    /** A key of a host, in the form of known_hosts. */
    record Key(String type, String base64) {

        /** As ssh shows it. */
        String fingerprint() {
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256")
                        .digest(Base64.getDecoder().decode(base64));
                return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(digest);
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError("every JVM has SHA-256", e);
            }
        }
    }

    private static final Pattern LINE =
            Pattern.compile("\\S+ ((?:ssh|ecdsa|sk)-[a-z0-9@.-]{2,60}) ([A-Za-z0-9+/]{20,8000}={0,2})");
    private static final int MAX_BYTES = 1 << 16;
    private static final int SECONDS = 15;

    HostKeys {
        keys = List.copyOf(keys);
    }

    /** Asks the host; none if it shows none. */
    static HostKeys shownBy(SshTarget target) throws IOException {
        Process process = new ProcessBuilder(
                        "ssh-keyscan", "-T", "5", "-p", Integer.toString(target.port()), "--", target.host())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return read(target, text);
    }

    /** Reads what ssh-keyscan(1) has printed. */
    static HostKeys read(SshTarget target, String text) {
        List<Key> keys = new ArrayList<>();
        text.lines().limit(20).forEach(line -> {
            Matcher key = LINE.matcher(line);
            if (key.matches()) {
                keys.add(new Key(key.group(1), key.group(2)));
            }
        });
        return new HostKeys(target, keys);
    }

    /** Lines for known_hosts: these keys, and no others that the host might show next. */
    List<String> lines() {
        return keys.stream()
                .map(key -> target.key() + " " + key.type() + " " + key.base64())
                .toList();
    }

    /** Adds them to the file of known hosts. */
    void keep() throws IOException {
        Path file = target.knownHosts();
        Files.createDirectories(Objects.requireNonNull(file.toAbsolutePath().getParent()));
        Files.write(file, lines(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
