package trigon.policy.commands;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import trigon.policy.PolicyException;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.elf.ObjectLoader;
import trigon.policy.map.MapSet;
import trigon.policy.verify.VerifierLimits;
import trigon.system.file.OpenFile;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** An object that the command line names. */
final class PolicyObjectFile {

    /** Limit of what a process with such a policy reads. */
    private static final int MAX_BYTES = 4 << 20;

    private final Path path;
    private final byte[] bytes;

    private PolicyObjectFile(Path path, byte[] bytes) {
        this.path = path;
        this.bytes = bytes;
    }

    /** @throws CommandFailure if it cannot be read, or is too large */
    static PolicyObjectFile read(Path path) {
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new CommandFailure("%s has more than %d bytes, and a policy's object has not: give the path of an"
                                .formatted(path, MAX_BYTES)
                        + " object made by clang -target bpf");
            }
            return new PolicyObjectFile(path, bytes);
        } catch (IOException e) {
            throw UserFiles.unreadable(path, e);
        }
    }

    /**
     * A mistyped path, or a process that names any file for its policy, must not cost a file that is none. What is
     * replaced need not be a policy that is accepted, as a new version may mend it: an eBPF object is enough.
     *
     * @throws CommandFailure if it is no regular file, or holds something else
     */
    static void checkReplaceable(Path path) {
        try (OpenFile file = OpenFile.open(path)) {
            if (!ObjectLoader.isObject(file.read(ObjectLoader.IDENTITY_BYTES))) {
                throw new CommandFailure(
                        ("%s is not a policy; nothing was changed: it holds no eBPF object; name another file, or"
                                        + " delete it")
                                .formatted(path));
            }
        } catch (IOException e) {
            throw new CommandFailure(
                    "%s is not a policy; nothing was changed: %s".formatted(path, UserFiles.reason(e)));
        }
    }

    /** Loads it into a new host, which has no other policy and no maps yet. */
    PolicyHost load() throws PolicyException {
        PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
        var _ = host.replace(String.valueOf(path.getFileName()), bytes);
        return host;
    }

    /** The ELF object; a copy. */
    byte[] bytes() {
        return bytes.clone();
    }
}
