package trigon.routing.hardware;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.routing.LocalLink;

/**
 * Functions of a NIC that lead to the same cable, as those of DGX Spark's ConnectX-7 do, of which each has a PCIe link
 * for half of the port's speed. Only in subnets of their own can both be used at the same time.
 */
public final class TwinFunctions {

    private TwinFunctions() {}

    /** For the log: which of them are in one subnet, what follows, and what to do. */
    public static List<String> warnings(List<LocalLink> links, NicHardware hardware) {
        List<String> warnings = new ArrayList<>();
        for (int i = 0; i < links.size(); i++) {
            LocalLink link = links.get(i);
            Optional<String> cable = hardware.cable(link);
            for (LocalLink other : links.subList(0, i)) {
                if (cable.isPresent()
                        && !other.deviceName().equals(link.deviceName())
                        && hardware.cable(other).equals(cable)
                        && areInOneSubnet(link, other)) {
                    warnings.add(warning(other, link));
                }
            }
        }
        return List.copyOf(warnings);
    }

    private static String warning(LocalLink one, LocalLink other) {
        return ("%s and %s are two functions of one port, in one subnet: the kernel may answer for both on one of the"
                        + " two, over which all data go then, at half of the port's speed; give each function a subnet"
                        + " of its own, on both nodes")
                .formatted(one, other);
    }

    private static boolean areInOneSubnet(LocalLink one, LocalLink other) {
        return one.address().contains(other.address().address())
                || other.address().contains(one.address().address());
    }
}
