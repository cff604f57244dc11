package trigon.integration.networks;

import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;

/** A program that looks at the interfaces so often, and counts how often one of them was not there, or not up. */
final class InterfaceSnapshots {

    private InterfaceSnapshots() {}

    public static void main(String[] arguments) {
        int looks = Integer.parseInt(arguments[0]);
        int missing = 0;
        for (int i = 0; i < looks; i++) {
            boolean there = HostInterfaces.snapshot()
                    .withName(arguments[1])
                    .filter(HostInterface::up)
                    .filter(each -> !each.addresses().isEmpty())
                    .isPresent();
            missing += there ? 0 : 1;
        }
        System.out.println(missing + " of " + looks + " without it");
    }
}
