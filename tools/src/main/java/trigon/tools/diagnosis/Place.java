package trigon.tools.diagnosis;

import trigon.system.InterfaceAddress;
import trigon.tools.facts.Nic;

/**
 * An address of a link.
 *
 * @param node that has it
 * @param nic the facts of its interface
 */
record Place(String node, Nic nic, InterfaceAddress address) {

    String name() {
        return nic.name();
    }

    /** The node and its interface, as hellos name them. */
    String end() {
        return node + " " + name();
    }

    /** For people. */
    String text() {
        return end() + " (" + address + ")";
    }

    /** Whether one has the other's address in its subnet. */
    boolean overlaps(Place other) {
        return address.contains(other.address.address()) || other.address.contains(address.address());
    }

    /** Whether both are in the same subnet, with the same prefix. */
    boolean shares(Place other) {
        return address.prefixLength() == other.address.prefixLength() && overlaps(other);
    }

    /** A bridge, or USB, as to a management controller: programs of the machine made its addresses, and need them. */
    boolean isFixed() {
        return !nic.kind().isEmpty();
    }
}
