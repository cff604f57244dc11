package trigon.tools.doctor;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;
import trigon.system.InterfaceAddress;

/** Proposes an address for the other end of a cable. Pure. */
final class FreeAddress {

    private FreeAddress() {}

    /** Another address in that subnet, with its prefix: the last byte's lowest bits the other way round. */
    static String beside(InterfaceAddress address, Set<InetAddress> taken) {
        for (int change = 1; change < 4; change++) {
            byte[] bytes = address.address().getAddress();
            bytes[bytes.length - 1] ^= (byte) change;
            InetAddress candidate = address(bytes);
            boolean edge = address.prefixLength() == 30 && (bytes[bytes.length - 1] & 3) % 3 == 0;
            if (!edge && bytes[bytes.length - 1] != 0 && !taken.contains(candidate)) {
                return InterfaceAddress.text(candidate) + "/" + address.prefixLength();
            }
        }
        return "ADDRESS/" + address.prefixLength();
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address with as many bytes as before", e);
        }
    }
}
