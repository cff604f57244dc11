package trigon.tools.plan;

import java.util.ArrayList;
import java.util.List;
import trigon.system.InterfaceAddress;
import trigon.tools.plan.Cabling.Cable;
import trigon.tools.plan.Subnets.NicAddress;

/**
 * An end of a planned cable.
 *
 * @param nic its interface
 * @param peer the other end's node
 * @param peerNic the other end's interface
 * @param address that it is to have
 * @param replaced addresses that it has, and is to lose
 */
public record PlannedEnd(
        String node,
        String nic,
        String peer,
        String peerNic,
        InterfaceAddress address,
        List<InterfaceAddress> replaced) {

    /**
     * Plans those of a cabling, both ends of each cable together.
     *
     * @param base of the subnets, which are in 10.BASE.0.0/16
     * @param prefix of the subnets; 0 for the usual one
     */
    public static List<PlannedEnd> of(Cabling cabling, int base, int prefix) {
        Subnets subnets = Subnets.of(cabling, base, prefix);
        List<PlannedEnd> ends = new ArrayList<>();
        for (Cable cable : cabling.cables()) {
            ends.add(of(subnets, cable.from(), cable.fromNic(), cable.to(), cable.toNic()));
            ends.add(of(subnets, cable.to(), cable.toNic(), cable.from(), cable.fromNic()));
        }
        return ends;
    }

    private static PlannedEnd of(Subnets subnets, String node, String nic, String peer, String peerNic) {
        NicAddress of = subnets.byNode().getOrDefault(node, List.of()).stream()
                .filter(each -> each.nic().equals(nic))
                .findFirst()
                .orElseThrow();
        return new PlannedEnd(
                node,
                nic,
                peer,
                peerNic,
                InterfaceAddress.parse(of.address()),
                of.replaced().stream().map(InterfaceAddress::parse).toList());
    }
}
