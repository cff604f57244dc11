package trigon.system.kernel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The number of a node: the kernel's boot, the network namespace, and the name, if the settings give one. */
public final class NodeNumber {

    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path NAMESPACE = Path.of("/proc/self/ns/net");

    private NodeNumber() {}

    /**
     * This node's; the same in all of its processes.
     *
     * @param name by the settings; empty without one
     * @throws IOException if the kernel does not tell
     */
    public static long of(String name) throws IOException {
        String boot = Files.readString(BOOT).strip();
        String namespace = Files.readSymbolicLink(NAMESPACE).toString();
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] hash = digest.digest((boot + '\n' + namespace + '\n' + name).getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java runtime has SHA-256", e);
        }
    }
}
