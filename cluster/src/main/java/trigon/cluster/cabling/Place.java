package trigon.cluster.cabling;

import trigon.cluster.machine.Nic;
import trigon.system.InterfaceAddress;

/**
 * An address of a link.
 *
 * @param node that has it
 * @param nic the facts of its interface
 */
public record Place(String node, Nic nic, InterfaceAddress address) {

    public String name() {
        return nic.name();
    }

    /** The address alone, without its prefix, as probes name ends. */
    public String host() {
        return InterfaceAddress.text(address.address());
    }

    /** The node and its interface, as hellos name them. */
    public String end() {
        return node + " " + name();
    }

    /** For people. */
    public String text() {
        return end() + " (" + address + ")";
    }

    /** Tells whether one has the other's address in its subnet. */
    public boolean overlaps(Place other) {
        return address.contains(other.address.address()) || other.address.contains(address.address());
    }

    /** Tells whether both are in the same subnet, with the same prefix. */
    public boolean shares(Place other) {
        return address.prefixLength() == other.address.prefixLength() && overlaps(other);
    }

    /** A bridge, or USB, as to a management controller: programs of the machine made its addresses, and need them. */
    public boolean isFixed() {
        return !nic.kind().isEmpty();
    }
}
