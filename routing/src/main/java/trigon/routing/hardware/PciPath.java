package trigon.routing.hardware;

import java.io.IOException;
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
public record PciPath(List<Path> steps) {

    private static final Pattern HOST_BRIDGE = Pattern.compile("pci[0-9a-f]{4,}:[0-9a-f]{2}");
    private static final int BELOW_ONE_SWITCH = 2; // its port, and the function
    private static final String NO_NUMA_NODE = "-1"; // as sysfs has it where the machine has one only

    public PciPath {
        steps = List.copyOf(steps);
    }

    /** Reads that of a device in sysfs; empty if it is none of PCI. */
    public static Optional<PciPath> of(Path device) {
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

    public Path function() {
        return steps.getLast();
    }

    public PciDistance to(PciPath other) {
        int common = common(other);
        if (common == 0) {
            return numaNode().equals(other.numaNode()) ? PciDistance.NODE : PciDistance.SYS;
        }
        if (common == 1) {
            return PciDistance.PHB;
        }
        return Math.max(steps.size(), other.steps.size()) - common <= BELOW_ONE_SWITCH
                ? PciDistance.PIX
                : PciDistance.PXB;
    }

    /** The ports between the two, without what is above both. */
    public List<Path> portsTo(PciPath other) {
        int common = common(other);
        List<Path> ports = new ArrayList<>(steps.subList(common, Math.max(common, steps.size() - 1)));
        ports.addAll(other.steps.subList(common, Math.max(common, other.steps.size() - 1)));
        return ports;
    }

    private int common(PciPath other) {
        int common = 0;
        while (common < Math.min(steps.size(), other.steps.size())
                && steps.get(common).equals(other.steps.get(common))) {
            common++;
        }
        return common;
    }

    private String numaNode() {
        try {
            return Files.readString(function().resolve("numa_node")).strip();
        } catch (IOException _) {
            return NO_NUMA_NODE;
        }
    }
}
