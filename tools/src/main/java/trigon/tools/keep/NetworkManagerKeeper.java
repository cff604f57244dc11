package trigon.tools.keep;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;

/** A profile of its own that goes before others of the interface; see nm-settings-keyfile(5). */
record NetworkManagerKeeper() implements Keeper {

    private static final String FOLDER = "/etc/NetworkManager/system-connections/";

    @Override
    public String program() {
        return "NetworkManager";
    }

    @Override
    public List<LastingFile> files(WantedNic nic) {
        return List.of(new LastingFile(
                path(nic), "600", """
                [connection]
                id=trigon-%1$s
                type=ethernet
                interface-name=%1$s
                autoconnect-priority=100

                [ethernet]
                mtu=%2$d

                [ipv4]
                %3$s

                [ipv6]
                %4$s
                """.formatted(nic.name(), nic.mtu(), settings(nic, false), settings(nic, true))));
    }

    private static String path(WantedNic nic) {
        return FOLDER + "trigon-" + nic.name() + ".nmconnection";
    }

    private static String settings(WantedNic nic, boolean six) {
        List<InterfaceAddress> addresses = nic.addresses().stream()
                .filter(each -> each.toString().contains(":") == six)
                .toList();
        String none = six ? "method=link-local" : "method=disabled";
        return addresses.isEmpty()
                ? none
                : Stream.of(
                                Stream.of("method=manual"),
                                IntStream.range(0, addresses.size())
                                        .mapToObj(i -> "address%d=%s".formatted(i + 1, addresses.get(i))),
                                Stream.of("never-default=true"))
                        .flatMap(lines -> lines)
                        .collect(Collectors.joining("\n"));
    }

    @Override
    public List<String> reread(WantedNic nic) {
        return List.of("nmcli connection reload");
    }

    @Override
    public List<String> activate(WantedNic nic) {
        return List.of("nmcli --wait 20 connection up trigon-" + nic.name());
    }

    @Override
    public boolean isDaemon() {
        return true;
    }
}
