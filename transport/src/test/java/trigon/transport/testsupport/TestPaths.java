package trigon.transport.testsupport;

import java.util.Set;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Paths to a node b over software links, which nothing is sent over. */
public final class TestPaths {

    private TestPaths() {}

    /**
     * One that says why it is one.
     *
     * @param number of the interface here
     * @param here its address, with the prefix
     * @param there the peer's
     */
    public static Path over(int number, String here, String there, Reason reason) {
        InterfaceAddress address = InterfaceAddress.parse(here);
        InterfaceAddress peer = InterfaceAddress.parse(there);
        String device = "soft_" + number;
        LocalLink link = new LocalLink(
                device,
                LinkKind.SOFTWARE,
                device,
                1,
                address,
                0,
                Gid.of(address.address()),
                10_000,
                "eth" + number,
                number,
                number);
        PeerLink remote = new PeerLink(peer.address(), peer.prefixLength(), 4711, Set.of(LinkKind.SOFTWARE));
        return new Path("b", link, remote, LinkKind.SOFTWARE, reason);
    }

    /** A cable with a subnet of its own. */
    public static Path cable(int number) {
        return over(
                number, "10.0.%d.1/24".formatted(number), "10.0.%d.2/24".formatted(number), new Reason.SameSubnet(24));
    }
}
