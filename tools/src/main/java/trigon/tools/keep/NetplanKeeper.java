package trigon.tools.keep;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import trigon.system.InterfaceAddress;

/** A file beside netplan's others. Never {@code netplan apply}, which touches all interfaces; see netplan(5). */
record NetplanKeeper() implements Keeper {

    @Override
    public String program() {
        return "netplan";
    }

    /** It also undoes what a file before it says of link-local addresses. */
    @Override
    public List<LastingFile> files(WantedNic nic) {
        String addresses =
                nic.addresses().stream().map(InterfaceAddress::toString).collect(Collectors.joining(", "));
        return List.of(new LastingFile("/etc/netplan/60-trigon-" + nic.name() + ".yaml", "600", """
                network:
                  version: 2
                  ethernets:
                    %s: {addresses: [%s], mtu: %d, dhcp4: false, link-local: [ipv6], optional: true}
                """.formatted(
                        nic.name(), addresses, nic.mtu())));
    }

    @Override
    public List<String> reread(WantedNic nic) {
        return List.of(
                "netplan generate",
                "if [ -e %s ]; then nmcli connection reload; else networkctl reload; fi".formatted(profile(nic)));
    }

    @Override
    public List<String> activate(WantedNic nic) {
        return List.of(
                "if [ -e %1$s ]; then nmcli --wait 20 connection up netplan-%2$s; else networkctl reconfigure %2$s; fi"
                        .formatted(profile(nic), nic.name()));
    }

    private static String profile(WantedNic nic) {
        return "/run/NetworkManager/system-connections/netplan-" + nic.name() + ".nmconnection";
    }

    @Override
    public Optional<String> mergedWith() {
        return Optional.of("/etc/netplan/*.yaml");
    }

    @Override
    public List<String> release(WantedNic nic) {
        return List.of("if [ ! -e %s ]; then networkctl reconfigure %s; fi".formatted(profile(nic), nic.name()));
    }

    @Override
    public boolean isDaemon() {
        return true;
    }
}
