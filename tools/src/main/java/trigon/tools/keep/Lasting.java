package trigon.tools.keep;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.NicManager;
import trigon.system.InterfaceAddress;

/** Comments below a command, which say how its change outlives a restart of the node. */
public final class Lasting {

    private Lasting() {}

    /** Those of a command line of the doctor; none for what does not change what a node keeps. */
    public static List<String> of(String line, NodeFacts facts) {
        List<Change> changes = Change.in(line);
        List<String> lines = new ArrayList<>();
        Set<String> nics = new LinkedHashSet<>();
        for (Change change : changes) {
            switch (change) {
                case Change.Add add -> nics.add(add.nic());
                case Change.Remove remove -> nics.add(remove.nic());
                case Change.Link link -> nics.add(link.nic());
                case Change.FirewallRule rule when rule.saved() -> {}
                case Change.FirewallRule _ ->
                    lines.add("# to keep it: netfilter-persistent save (package iptables-persistent), or on Fedora and"
                            + " its like service iptables save (package iptables-services)");
                case Change.KernelSetting setting ->
                    lines.add("# to keep it: echo '%s = %s' >> /etc/sysctl.d/60-trigon.conf"
                            .formatted(setting.name(), setting.value()));
                case Change.Other _ -> {}
            }
        }
        nics.forEach(nic -> lines.addAll(ofNic(nic, changes, facts)));
        return lines;
    }

    /** What others have given the interface, as DHCP does, is theirs to keep. */
    private static List<String> ofNic(String name, List<Change> changes, NodeFacts facts) {
        WantedNic nic = wanted(name, changes, facts.interfaceNamed(name).orElseGet(() -> Nic.named(name)));
        NicManager manager = facts.networks().managers().getOrDefault(name, NicManager.NOBODY);
        Optional<Keeper> keeper = Keeper.of(manager);
        boolean isOfOthers =
                !nic.staying().isEmpty() || facts.networks().defaultRoutes().contains(name);
        if (keeper.isEmpty() || isOfOthers) {
            return List.of("# to keep it: change %s in the files of %s, which has it"
                    .formatted(
                            name,
                            keeper.map(Keeper::program).orElse(manager.name().toLowerCase(Locale.ROOT))));
        }
        List<String> lines = new ArrayList<>();
        lines.add("# to keep it, by %s:".formatted(keeper.get().program()));
        keeper.get().script(nic).forEach(each -> lines.add("#   " + each));
        return lines;
    }

    private static WantedNic wanted(String name, List<Change> changes, Nic now) {
        List<InterfaceAddress> staying = new ArrayList<>(now.ownAddresses());
        List<InterfaceAddress> added = new ArrayList<>();
        int mtu = now.mtu();
        for (Change change : changes) {
            if (change instanceof Change.Add add && add.nic().equals(name)) {
                added.add(add.address());
            } else if (change instanceof Change.Remove remove && remove.nic().equals(name)) {
                staying.remove(remove.address());
            } else if (change instanceof Change.Link link && link.nic().equals(name)) {
                mtu = link.mtu();
            }
        }
        return new WantedNic(name, mtu, staying, added);
    }
}
