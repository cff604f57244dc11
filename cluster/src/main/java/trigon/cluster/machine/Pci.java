package trigon.cluster.machine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a PCI function is plugged in. The kernel's sysfs-bus-pci has what each means.
 *
 * @param function its address, for example {@code 0000:01:00.0}
 * @param bridge of the PCIe link that it shares with its siblings
 * @param negotiated for example {@code 32 GT/s x4}; empty if unknown
 * @param possible the same of what the card can do
 * @param reduced true if it has less than the card can do; empty if a node does not say
 */
public record Pci(String function, String bridge, String negotiated, String possible, Optional<Boolean> reduced) {

    /** Reads that of a device in sysfs; empty if it is none of PCI. */
    static Optional<Pci> of(Path device) {
        try {
            Path function = device.toRealPath();
            if (!function.resolve("subsystem").toRealPath().endsWith("pci")) {
                return Optional.empty();
            }
            Path above = function.getParent();
            Optional<String> speed = known(function.resolve("current_link_speed"));
            Optional<String> width = known(function.resolve("current_link_width"));
            Optional<String> maxSpeed = known(function.resolve("max_link_speed"));
            Optional<String> maxWidth = known(function.resolve("max_link_width"));
            return Optional.of(new Pci(
                    function.getFileName().toString(),
                    above == null ? "" : above.getFileName().toString(),
                    text(speed, width),
                    text(maxSpeed, maxWidth),
                    Optional.of(isLess(speed, maxSpeed) || isLess(width, maxWidth))));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /** Tells whether it has less than the card can do; where that is not said, whether it has something else. */
    public boolean isReduced() {
        return !possible.isEmpty() && !negotiated.equals(possible) && reduced.orElse(true);
    }

    private static Optional<String> known(Path file) {
        return Machine.line(file).filter(text -> !text.contains("Unknown") && !text.equals("0") && !text.equals("255"));
    }

    private static boolean isLess(Optional<String> actual, Optional<String> most) {
        return actual.isPresent() && most.isPresent() && number(actual.get()) < number(most.get());
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.split(" ", 2)[0]);
        } catch (NumberFormatException _) {
            return Double.NaN;
        }
    }

    private static String text(Optional<String> speed, Optional<String> width) {
        return speed.map(each -> each.replace(".0 ", " ").replace(" PCIe", "") + " ")
                        .orElse("")
                + width.map(lanes -> "x" + lanes).orElse("");
    }
}
