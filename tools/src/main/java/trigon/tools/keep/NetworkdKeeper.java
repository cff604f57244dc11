package trigon.tools.keep;

import java.util.List;
import java.util.stream.Collectors;

/** A file that comes before those of others for the interface; see systemd.network(5). */
record NetworkdKeeper() implements Keeper {

    @Override
    public String program() {
        return "networkd";
    }

    @Override
    public List<LastingFile> files(WantedNic nic) {
        String addresses = nic.addresses().stream()
                .map(address -> "Address=" + address + "\n")
                .collect(Collectors.joining());
        return List.of(
                new LastingFile("/etc/systemd/network/05-trigon-" + nic.name() + ".network", "644", """
                [Match]
                Name=%s

                [Link]
                MTUBytes=%d
                RequiredForOnline=no

                [Network]
                DHCP=no
                LinkLocalAddressing=ipv6
                %s""".formatted(
                                nic.name(), nic.mtu(), addresses)));
    }

    @Override
    public List<String> reread(WantedNic nic) {
        return List.of("networkctl reload");
    }

    @Override
    public List<String> activate(WantedNic nic) {
        return List.of("networkctl reconfigure " + nic.name());
    }

    @Override
    public List<String> release(WantedNic nic) {
        return activate(nic);
    }

    @Override
    public boolean isDaemon() {
        return true;
    }
}
