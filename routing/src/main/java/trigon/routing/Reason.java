package trigon.routing;

import java.util.List;
import trigon.config.cluster.NicReference;

/** Why a path is one. */
public sealed interface Reason {

    /**
     * Closeness of both ends: the bits that their subnet has; for a route, less than any.
     */
    default int subnetBits() {
        return switch (this) {
            case SameSubnet(int prefixLength) -> prefixLength;
            case KernelRoute() -> -1;
            case LinkLocal(int inPlaceOf) -> inPlaceOf > 0 ? inPlaceOf : -2;
            case Relayed _ -> -3;
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

    /** Returns whether only the network can tell if it leads there. */
    default boolean isLinkLocal() {
        return switch (this) {
            case LinkLocal _ -> true;
            case Prescribed prescribed -> prescribed.because().isLinkLocal();
            case SameSubnet _, KernelRoute _, Relayed _ -> false;
        };
    }

    /** Returns whether there is a subnet, too, in which the kernel may take another interface for this one. */
    default boolean isInPlaceOfSubnet() {
        return isLinkLocal() && subnetBits() > 0;
    }

    /**
     * Both ends have a link-local address: they reach each other if they are on one link.
     *
     * @param inPlaceOf bits of the subnet that this interface shares with another one here, so that the kernel does not
     *     tell them apart; 0 where it has no other address
     */
    record LinkLocal(int inPlaceOf) implements Reason {
        @Override
        public String toString() {
            return "link-local";
        }
    }

    /**
     * There is no link, but relays pass on what is sent.
     *
     * @param over their nodes, in their order
     * @param bandwidth what the route carries
     * @param rdmaHops hops that RDMA carries, as far as the nodes say; the others go over TCP
     */
    record Relayed(List<String> over, Bandwidth bandwidth, int rdmaHops) implements Reason {

        public Relayed {
            over = List.copyOf(over);
        }

        /** The relays and what carries their hops: for example {@code b, c over RDMA}. */
        public String relays() {
            String carrier = rdmaHops == 0 ? "TCP" : rdmaHops > over.size() ? "RDMA" : "RDMA and TCP";
            return String.join(", ", over) + " over " + carrier;
        }

        @Override
        public String toString() {
            return "relayed by " + relays();
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
