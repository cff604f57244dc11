package trigon.cluster.machine;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.routing.discovery.Usb4;

/**
 * A cable between this machine and another one by USB4 or Thunderbolt, as the kernel's bus has it, with a network
 * interface or without.
 *
 * @param device of the machine at the other end, for example {@code 0-1}
 * @param peer the name that it gives itself; empty without one
 * @param lanes by which it sends, 1 or 2; 0 if the kernel does not say
 * @param nic the network interface over the cable
 * @see <a href="https://docs.kernel.org/admin-guide/abi-testing-files.html">sysfs-bus-thunderbolt</a>
 */
public record Usb4Cable(
        String device,
        String peer,
        int lanes,
        int speedMbps,
        @JsonProperty("interface") Optional<String> nic) {

    /** All of them. Of the devices of the bus, machines alone have lanes and need no authorization. */
    public static List<Usb4Cable> all(Path sysfs) {
        List<Usb4Cable> found = new ArrayList<>();
        for (Path device : Machine.entries(sysfs.resolve("bus/thunderbolt/devices"))) {
            if (Files.exists(device.resolve("rx_lanes")) && !Files.exists(device.resolve("authorized"))) {
                found.add(of(device));
            }
        }
        return found;
    }

    private static Usb4Cable of(Path device) {
        String name = String.valueOf(device.getFileName());
        return new Usb4Cable(
                name,
                Machine.line(device.resolve("device_name")).orElse(""),
                Machine.number(device.resolve("rx_lanes")).orElse(0L).intValue(),
                Usb4.megabitsFrom(device),
                Machine.entries(device).stream()
                        .filter(service -> String.valueOf(service.getFileName()).startsWith(name + "."))
                        .flatMap(service -> Machine.entries(service.resolve("net")).stream())
                        .map(nic -> String.valueOf(nic.getFileName()))
                        .findFirst());
    }
}
