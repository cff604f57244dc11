package trigon.cluster.machine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a PCI function is plugged in. The kernel's sysfs-bus-pci has what each means.
 *
 * @param function its address, for example {@code 0000:01:00.0}
 * @param bridge of the PCIe link that it shares with its siblings
 * @param speed what was negotiated for each lane, for example {@code 32.0 GT/s PCIe}
 * @param width lanes that were negotiated
 * @param mostSpeed what the card can do
 * @param mostWidth lanes of the card
 */
public record PciSlot(
        String function,
        String bridge,
        Optional<String> speed,
        Optional<String> width,
        Optional<String> mostSpeed,
        Optional<String> mostWidth) {

    /** Of a device in sysfs; empty if it is none of PCI. */
    static Optional<PciSlot> of(Path device) {
        try {
            Path function = device.toRealPath();
            if (!function.resolve("subsystem").toRealPath().endsWith("pci")) {
                return Optional.empty();
            }
            Path above = function.getParent();
            return Optional.of(new PciSlot(
                    function.getFileName().toString(),
                    above == null ? "" : above.getFileName().toString(),
                    known(function.resolve("current_link_speed")),
                    known(function.resolve("current_link_width")),
                    known(function.resolve("max_link_speed")),
                    known(function.resolve("max_link_width"))));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static Optional<String> known(Path file) {
        return Machine.line(file).filter(text -> !text.contains("Unknown") && !text.equals("0") && !text.equals("255"));
    }

    /** Whether it has less than the card can do. */
    public boolean isReduced() {
        return isLess(speed, mostSpeed) || isLess(width, mostWidth);
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

    /** For example {@code 32 GT/s x4}. */
    public String negotiated() {
        return text(speed, width);
    }

    /** The same of what the card can do. */
    public String possible() {
        return text(mostSpeed, mostWidth);
    }

    private static String text(Optional<String> speed, Optional<String> width) {
        return speed.map(each -> each.replace(".0 ", " ").replace(" PCIe", "") + " ")
                        .orElse("")
                + width.map(lanes -> "x" + lanes).orElse("");
    }
}
