package trigon.tools.keep;

import java.util.List;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;

/**
 * An interface as it is to be after a restart.
 *
 * @param mtu in bytes
 * @param staying addresses that it has already
 * @param added addresses that it gets
 */
public record WantedNic(String name, int mtu, List<InterfaceAddress> staying, List<InterfaceAddress> added) {

    public WantedNic {
        staying = List.copyOf(staying);
        added = List.copyOf(added);
    }

    /** Those that stay, and those to add; each once. */
    List<InterfaceAddress> addresses() {
        return Stream.concat(staying.stream(), added.stream()).distinct().toList();
    }
}
