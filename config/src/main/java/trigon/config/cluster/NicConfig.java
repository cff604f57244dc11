package trigon.config.cluster;

import java.util.Optional;
import java.util.OptionalInt;
import trigon.config.setting.Source;
import trigon.config.setting.ValueType;
import trigon.system.InterfaceAddress;

/**
 * A NIC of a node as the file names it: by device, by address, or by both.
 *
 * @param device an RDMA device or a network interface; empty: the NIC is found by its address
 * @param address the one address to use; empty: all that the device has
 * @param speedMbps rate in Mbit/s, 1 to 10,000,000; empty: what the device or the kernel says
 * @param source where it is listed
 */
public record NicConfig(
        Optional<String> device, Optional<InterfaceAddress> address, OptionalInt speedMbps, Source source) {

    /** Range of a rate, in Mbit/s. */
    public static final ValueType.WholeNumber SPEED_MBPS = new ValueType.WholeNumber(1, 10_000_000);

    public NicConfig {
        if (device.isEmpty() && address.isEmpty()) {
            throw new IllegalArgumentException("a NIC needs a device or an address");
        }
        speedMbps.ifPresent(speed -> {
            if (speed < SPEED_MBPS.least() || speed > SPEED_MBPS.most()) {
                throw new IllegalArgumentException(speed + " Mbit/s: " + SPEED_MBPS.rule());
            }
        });
    }

    /** For example {@code rxe_ab 10.0.12.1/24}. */
    @Override
    public String toString() {
        String space = device.isPresent() && address.isPresent() ? " " : "";
        return device.orElse("")
                + space
                + address.map(InterfaceAddress::toString).orElse("");
    }
}
