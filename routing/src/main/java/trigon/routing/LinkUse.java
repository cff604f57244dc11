package trigon.routing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;

/** The use of a network interface, which decides how much its speed counts when paths are compared. */
public enum LinkUse {
    /** Whatever it carries. */
    DATA(""),

    /** NCCL's bootstrap is to use it ({@code NCCL_SOCKET_IFNAME}): a network that all nodes share. */
    BOOTSTRAP("NCCL's bootstrap network"),

    /** Wi-Fi, a cellular modem, or a USB gadget: for data only where nothing else reaches the peer. */
    LAST_RESORT("Wi-Fi, cellular or USB gadget"),

    /** Its address is deprecated: the kernel prefers others, and the address may go soon. */
    DEPRECATED("deprecated address");

    /** The Mbit/s of a speed that the kernel does not tell: less than any that it does. */
    static final int UNKNOWN_MBPS = 1;

    private static final int BOOTSTRAP_SHARE = 10;

    /** Values of the kernel's {@code DEVTYPE=} in an interface's {@code uevent}. */
    private static final Set<String> TYPES = Set.of("DEVTYPE=wlan", "DEVTYPE=wwan", "DEVTYPE=gadget");

    /** The kernel's names for the host's end of a cable to a USB gadget. */
    private static final Pattern NAMES = Pattern.compile("(usb|wwan)[0-9]+");

    private final String words;

    LinkUse(String words) {
        this.words = words;
    }

    /**
     * By what the kernel says of an interface.
     *
     * @param directory the interface's in {@code /sys/class/net}, which may be missing
     */
    public static LinkUse of(Path directory) {
        boolean last = NAMES.matcher(directory.getFileName().toString()).matches()
                || Files.exists(directory.resolve("wireless"))
                || Files.exists(directory.resolve("phy80211"))
                || hasType(directory);
        return last ? LAST_RESORT : DATA;
    }

    private static boolean hasType(Path directory) {
        try {
            return Files.readAllLines(directory.resolve("uevent")).stream().anyMatch(TYPES::contains);
        } catch (IOException _) {
            return false; // the kernel says nothing
        }
    }

    /**
     * The Mbit/s that a link's speed counts: 0 for a last resort and a deprecated address, 1 if it is not known, a
     * tenth for the bootstrap's network.
     *
     * @param speedMbps 0 if it is not known
     */
    public int countedMbps(int speedMbps) {
        if (this == LAST_RESORT || this == DEPRECATED) {
            return 0;
        }
        if (speedMbps <= 0) {
            return UNKNOWN_MBPS;
        }
        return Math.max(UNKNOWN_MBPS + 1, this == BOOTSTRAP ? speedMbps / BOOTSTRAP_SHARE : speedMbps);
    }

    /** For people; nothing for data. */
    @Override
    public String toString() {
        return words;
    }
}
