package trigon.tools.bench;

import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Links that are not there. */
final class Links {

    private Links() {}

    static LocalLink software(String name, int speedMbps) {
        InterfaceAddress address = InterfaceAddress.parse("10.0.12.1/24");
        return new LocalLink(
                name, LinkKind.SOFTWARE, name, 1, address, 0, Gid.of(address.address()), speedMbps, name, 2, 0);
    }

    static LocalLink rdma(String device) {
        InterfaceAddress address = InterfaceAddress.parse("10.0.12.1/24");
        return new LocalLink(
                device, LinkKind.RDMA, device, 1, address, 3, Gid.of(address.address()), 100_000, "eth1", 2, 0);
    }
}
