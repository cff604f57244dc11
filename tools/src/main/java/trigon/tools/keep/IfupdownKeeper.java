package trigon.tools.keep;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.system.InterfaceAddress;

/** A file in the folder that interfaces(5) includes. Its stanzas add to those that others have for the interface. */
record IfupdownKeeper() implements Keeper {

    @Override
    public String program() {
        return "ifupdown";
    }

    @Override
    public List<LastingFile> files(WantedNic nic) {
        StringBuilder text = new StringBuilder("auto %s\n".formatted(nic.name()));
        for (InterfaceAddress address : nic.added()) {
            text.append("iface %s %s static\n    address %s\n    mtu %d\n"
                    .formatted(nic.name(), address.toString().contains(":") ? "inet6" : "inet", address, nic.mtu()));
        }
        if (nic.added().isEmpty()) {
            text.append(
                    "iface %1$s inet manual\n    up ip link set dev %1$s mtu %2$d\n".formatted(nic.name(), nic.mtu()));
        }
        String name = "trigon-" + nic.name().replaceAll("[^A-Za-z0-9_-]", "_"); // others are not included
        return List.of(new LastingFile("/etc/network/interfaces.d/" + name, "644", text.toString()));
    }

    @Override
    public List<String> reread(WantedNic nic) {
        return List.of(); // it reads them each time
    }

    /** ifup(8) fails on an address that is there. */
    @Override
    public List<String> activate(WantedNic nic) {
        List<String> commands = new ArrayList<>();
        nic.added().forEach(each -> commands.add(new Change.Remove(nic.name(), each).command() + " 2>/dev/null || :"));
        commands.add("ifup --force " + nic.name());
        return commands;
    }

    @Override
    public Optional<String> mergedWith() {
        return Optional.of("/etc/network/interfaces /etc/network/interfaces.d/*");
    }
}
