package trigon.routing;

import trigon.config.NicReference;

/** Why a path is one. */
public sealed interface Reason {

    /** How closely both ends are related: the bits that their subnet has; for a route, less than any. */
    default int subnetBits() {
        return switch (this) {
            case SameSubnet(int prefixLength) -> prefixLength;
            case KernelRoute() -> -1;
            case Prescribed prescribed -> prescribed.because().subnetBits();
        };
    }

    /**
     * Each end is in the other's subnet.
     *
     * @param prefixLength the shorter of both ends' prefixes
     */
    record SameSubnet(int prefixLength) implements Reason {
        @Override
        public String toString() {
            return "same subnet /" + prefixLength;
        }
    }

    /** The kernel's routes lead there from this link's address. */
    record KernelRoute() implements Reason {
        @Override
        public String toString() {
            return "kernel route";
        }
    }

    /**
     * The configuration file prescribes the NIC for this peer.
     *
     * @param nic the entry of {@code peers}
     * @param because how that NIC reaches the peer
     */
    record Prescribed(NicReference nic, Reason because) implements Reason {
        @Override
        public String toString() {
            return "prescribed by " + nic.source() + ", " + because;
        }
    }
}
