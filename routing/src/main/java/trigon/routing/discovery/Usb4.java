package trigon.routing.discovery;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A cable between two machines by USB4 or Thunderbolt. Most kernels do not tell the speed of its network interface, and
 * all tell that of the cable.
 *
 * @see <a href="https://docs.kernel.org/admin-guide/abi-testing-files.html">sysfs-bus-thunderbolt</a>
 */
public final class Usb4 {

    private static final int MAX_LANES = 8;

    /** Faster than any that there is; a number beyond it is none. */
    private static final double MAX_GIGABITS = 1000;

    private Usb4() {}

    /**
     * Mbit/s that come in over the cable of a network interface; 0 if it is none of USB4.
     *
     * @param of the interface's directory in /sys
     */
    public static int megabitsPerSecond(Path of) {
        try {
            // the interface's device is a service of the machine at the other end, which is the directory above
            return megabitsFrom(of.resolve("device").toRealPath().resolve(".."));
        } catch (IOException _) {
            return 0; // it has no device
        }
    }

    /**
     * Mbit/s that come in from a machine at the other end of a cable: lanes times speed; 0 if it is none.
     *
     * @param machine its directory in /sys/bus/thunderbolt/devices
     */
    public static int megabitsFrom(Path machine) {
        try {
            String speed = Files.readString(machine.resolve("rx_speed")).strip();
            int lanes = Integer.parseInt(
                    Files.readString(machine.resolve("rx_lanes")).strip());
            double gigabits = Double.parseDouble(speed.replaceFirst(" Gb/s$", ""));
            boolean sensible = lanes > 0 && lanes <= MAX_LANES && gigabits > 0 && gigabits <= MAX_GIGABITS;
            return sensible ? (int) Math.round(lanes * gigabits * 1000) : 0;
        } catch (IOException | NumberFormatException _) {
            return 0; // another kind, or unplugged meanwhile
        }
    }
}
