package trigon.software;

import java.net.InetAddress;

/**
 * One local IP address as an RDMA device would be: what the software verbs are made of.
 *
 * @param name the device's name, for example {@code eth0}
 * @param address a unicast address of this machine
 * @param prefixLength length of the address's subnet prefix in bits: which peers are on-link
 * @param speedMbps rate of the interface in Mbit/s, reported as the port's
 * @param interfaceIndex index of the interface that has the address; 0 if unknown
 */
public record SoftwareDevice(String name, InetAddress address, int prefixLength, int speedMbps, int interfaceIndex) {

    public SoftwareDevice {
        if (name.isBlank()) {
            throw new IllegalArgumentException("a software device needs a name");
        }
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalArgumentException(
                    "software device " + name + " needs a unicast address, not " + address.getHostAddress());
        }
        int bits = address.getAddress().length * Byte.SIZE;
        if (prefixLength < 0 || prefixLength > bits) {
            throw new IllegalArgumentException(
                    "prefix length " + prefixLength + " of software device " + name + " is not in 0.." + bits);
        }
    }

    /** Returns whether the other address is in this device's subnet. */
    public boolean isOnLink(InetAddress other) {
        byte[] mine = address.getAddress();
        byte[] its = other.getAddress();
        if (mine.length != its.length) {
            return false;
        }
        int whole = prefixLength / Byte.SIZE;
        for (int i = 0; i < whole; i++) {
            if (mine[i] != its[i]) {
                return false;
            }
        }
        int rest = prefixLength % Byte.SIZE;
        return rest == 0 || (mine[whole] ^ its[whole]) >>> (Byte.SIZE - rest) == 0;
    }

    @Override
    public String toString() {
        return name + " (" + address.getHostAddress() + "/" + prefixLength + ")";
    }
}
