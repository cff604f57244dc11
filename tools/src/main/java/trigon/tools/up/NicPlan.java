package trigon.tools.up;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.machine.NicManager;
import trigon.system.InterfaceAddress;
import trigon.tools.keep.Change;
import trigon.tools.keep.WantedNic;
import trigon.tools.plan.PlannedEnd;

/**
 * An end of a cable, as it is and as it is to be.
 *
 * @param end with the address that it is to have
 * @param has addresses that it has
 * @param mtuBefore its MTU
 * @param mtu that it is to have
 * @param up false if it was down
 * @param manager in charge of it
 */
record NicPlan(PlannedEnd end, List<InterfaceAddress> has, int mtuBefore, int mtu, boolean up, NicManager manager) {

    /** Tells whether nothing has to be changed. */
    boolean isRight() {
        return up
                && mtu == mtuBefore
                && has.contains(end.address())
                && end.replaced().isEmpty();
    }

    /** Changes of the kernel, in their order: a new address comes before an old one goes. */
    List<Change> changes() {
        List<Change> changes = new ArrayList<>();
        if (mtu != mtuBefore || !up) {
            changes.add(new Change.Link(end.nic(), mtu));
        }
        if (!has.contains(end.address())) {
            changes.add(new Change.Add(end.nic(), end.address()));
        }
        end.replaced().forEach(each -> changes.add(new Change.Remove(end.nic(), each)));
        return changes;
    }

    /** As it is to be after a restart. */
    WantedNic wanted() {
        List<InterfaceAddress> staying = has.stream()
                .filter(each -> !end.replaced().contains(each) && !each.equals(end.address()))
                .toList();
        return new WantedNic(end.nic(), mtu, staying, List.of(end.address()));
    }

    /** For people, in a few words. */
    String text() {
        List<String> words = new ArrayList<>();
        if (!has.contains(end.address())) {
            words.add("+ " + end.address());
        }
        end.replaced().forEach(each -> words.add("- " + each));
        if (mtu != mtuBefore) {
            words.add("MTU " + mtuBefore + " -> " + mtu);
        }
        if (!up) {
            words.add("up");
        }
        return String.join(", ", words);
    }
}
