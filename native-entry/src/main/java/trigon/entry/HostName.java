package trigon.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import trigon.config.setting.ConfigException;

/** The kernel's name of this machine. */
final class HostName {

    private static final Path FILE = Path.of("/proc/sys/kernel/hostname");

    private HostName() {}

    /** From the kernel: Java's own way would ask the name service, which may take its time. */
    static String ofThisMachine() {
        try {
            return Files.readString(FILE).strip();
        } catch (IOException e) {
            throw new ConfigException("the host name cannot be read: " + e.getMessage(), e);
        }
    }
}
