package trigon.cluster.machine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The way from a PCI host bridge to a function, as sysfs has it.
 *
 * @param steps folders, from the host bridge to the function
 */
record PciPath(List<Path> steps) {

    private static final Pattern HOST_BRIDGE = Pattern.compile("pci[0-9a-f]{4,}:[0-9a-f]{2}");
    private static final int BELOW_ONE_SWITCH = 2; // its port, and the function

    /** Bytes of the configuration that every user may read. */
    private static final int READABLE_BY_ALL = 64;

    private static final int EXTENDED_CAPABILITIES = 0x100;
    private static final int ACCESS_CONTROL_SERVICES = 0x0d;
    private static final int CONTROL_REGISTER = 6;
    private static final int REDIRECTS_REQUESTS_OR_COMPLETIONS = 0b1100;

    PciPath {
        steps = List.copyOf(steps);
    }

    /** Reads that of a device in sysfs; empty if it is none of PCI. */
    static Optional<PciPath> of(Path device) {
        List<Path> steps = new ArrayList<>();
        try {
            for (Path at = device.toRealPath(); at != null && at.getFileName() != null; at = at.getParent()) {
                steps.addFirst(at);
                if (HOST_BRIDGE.matcher(at.getFileName().toString()).matches()) {
                    return Optional.of(new PciPath(steps));
                }
            }
        } catch (IOException _) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    Path function() {
        return steps.getLast();
    }

    PciDistance to(PciPath other) {
        int common = common(other);
        if (common == 0) {
            return numaNode() == other.numaNode() ? PciDistance.NODE : PciDistance.SYS;
        }
        if (common == 1) {
            return PciDistance.PHB;
        }
        return Math.max(steps.size(), other.steps.size()) - common <= BELOW_ONE_SWITCH
                ? PciDistance.PIX
                : PciDistance.PXB;
    }

    private int common(PciPath other) {
        int common = 0;
        while (common < Math.min(steps.size(), other.steps.size())
                && steps.get(common).equals(other.steps.get(common))) {
            common++;
        }
        return common;
    }

    /** A negative number where the machine has one only. */
    private long numaNode() {
        return Machine.number(function().resolve("numa_node")).orElse(-1L);
    }

    /** Tells whether a port between the two sends what is for the other up to the CPU first. */
    AccessControl accessControl(PciPath other) {
        int common = common(other);
        List<Path> ports = new ArrayList<>(steps.subList(common, Math.max(common, steps.size() - 1)));
        ports.addAll(other.steps.subList(common, Math.max(common, other.steps.size() - 1)));
        return ports.stream()
                .map(PciPath::accessControl)
                .max(AccessControl::compareTo)
                .orElse(AccessControl.OFF);
    }

    private static AccessControl accessControl(Path port) {
        ByteBuffer configuration;
        try {
            configuration =
                    ByteBuffer.wrap(Files.readAllBytes(port.resolve("config"))).order(ByteOrder.LITTLE_ENDIAN);
        } catch (IOException _) {
            return AccessControl.UNKNOWN;
        }
        int size = configuration.limit();
        if (size <= READABLE_BY_ALL) {
            return AccessControl.UNKNOWN;
        }
        int at = EXTENDED_CAPABILITIES;
        while (at >= EXTENDED_CAPABILITIES && at + Long.BYTES <= size) {
            int header = configuration.getInt(at);
            if ((header & 0xffff) == ACCESS_CONTROL_SERVICES) {
                return (configuration.getShort(at + CONTROL_REGISTER) & REDIRECTS_REQUESTS_OR_COMPLETIONS) == 0
                        ? AccessControl.OFF
                        : AccessControl.REDIRECTS;
            }
            int next = header >>> 20;
            if (next <= at) {
                break; // the end of the list, or none that is right
            }
            at = next;
        }
        return AccessControl.OFF;
    }
}
