package trigon.testsupport.verbs;

import java.util.Optional;
import trigon.verbs.VerbsProvider;

/**
 * Two ends that reach each other, and possibly one that the first cannot reach.
 *
 * @param first one end
 * @param second the other; may be the same device
 * @param unreachable an end that cannot be reached from the first; empty if there is none
 */
public record VerbsFabric(End first, End second, Optional<End> unreachable) {

    /**
     * One port of one device.
     *
     * @param provider where the device is from
     * @param deviceName its name
     * @param port from 1
     * @param gidIndex the entry of the port's GID table to be used
     */
    public record End(VerbsProvider provider, String deviceName, int port, int gidIndex) {}
}
