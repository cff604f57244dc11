package trigon.routing;

import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/**
 * A path to a peer that can be tried.
 *
 * @param peer the peer's name, for logs
 * @param local this end
 * @param remote that end
 * @param kind what carries the data, at both ends
 * @param reason why it is a path
 */
public record Path(String peer, LocalLink local, PeerLink remote, LinkKind kind, Reason reason) {

    public Path {
        if (local.kind() != kind || !remote.kinds().contains(kind)) {
            throw new IllegalArgumentException(local + " and " + remote + " are not both " + LocalLink.word(kind));
        }
    }

    /** The same, to a peer whose name is known by now. */
    public Path to(String name) {
        return new Path(name, local, remote, kind, reason);
    }

    /** Returns whether it leads through relays. */
    public boolean isRelayed() {
        return reason instanceof Reason.Relayed;
    }

    /** The relays and what carries their hops; empty without relays. */
    public String relays() {
        return reason instanceof Reason.Relayed relayed ? relayed.relays() : "";
    }

    /** Its bandwidth, as paths are compared by it: what its slowest link does, as far as that is known. */
    public Bandwidth bandwidth() {
        return reason instanceof Reason.Relayed relayed
                ? relayed.bandwidth()
                : local.bandwidth().and(remote.bandwidth());
    }

    /** For example {@code b 10.0.12.2 via rxe_ab 10.0.12.1/24 (RDMA), same subnet /24}. */
    @Override
    public String toString() {
        return "%s %s via %s, %s".formatted(peer, InterfaceAddress.text(remote.address()), local, reason);
    }
}
