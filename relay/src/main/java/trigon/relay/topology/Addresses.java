package trigon.relay.topology;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Comparator;

/** The order of addresses. */
final class Addresses {

    /** IPv4 first, then as unsigned numbers. */
    static final Comparator<InetAddress> BY_ADDRESS = Comparator.comparingInt(
                    (InetAddress address) -> address.getAddress().length)
            .thenComparing(InetAddress::getAddress, Arrays::compareUnsigned);

    private Addresses() {}
}
