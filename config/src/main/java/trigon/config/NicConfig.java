package trigon.config;

import java.util.Optional;

/**
 * A NIC of a node as the file names it: by device, by address, or by both.
 *
 * @param device an RDMA device or a network interface; empty: the NIC is found by its address
 * @param address the one address to use; empty: all that the device has
 * @param source where it is listed
 */
public record NicConfig(Optional<String> device, Optional<InterfaceAddress> address, Source source) {

    public NicConfig {
        if (device.isEmpty() && address.isEmpty()) {
            throw new IllegalArgumentException("a NIC needs a device or an address");
        }
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
