package trigon.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Commands that keep a change by {@code ip} or {@code sysctl} after a restart, for NetworkManager and for netplan: a
 * machine has one or the other. Pure. See nmcli(1), netplan-set(8) and sysctl.d(5).
 */
final class LastingCommands {

    private static final Pattern AND = Pattern.compile(" && ");
    private static final Pattern ADDRESS = Pattern.compile("ip addr (add|del) (\\S+) dev (\\S+)");
    private static final Pattern MTU = Pattern.compile("ip link set (\\S+) mtu (\\d+)");
    private static final Pattern IPTABLES = Pattern.compile("ip6?tables -I .*");
    private static final Pattern SYSCTL = Pattern.compile("sysctl -w (\\S+)=(\\S+)");

    private LastingCommands() {}

    /**
     * Finds those for commands joined by {@code &&}.
     *
     * @param hasAddress of an interface by its name: what gives it an address of IPv4, such as DHCP, is left as it is
     * @return comments, none for what does not change the configuration of an interface
     */
    static List<String> of(String commands, Predicate<String> hasAddress) {
        List<String> lines = new ArrayList<>();
        for (String command : AND.splitAsStream(commands).toList()) {
            Matcher address = ADDRESS.matcher(command);
            Matcher mtu = MTU.matcher(command);
            Matcher sysctl = SYSCTL.matcher(command);
            if (address.matches()) {
                boolean alone = !hasAddress.test(address.group(3));
                addressed(address.group(1).equals("add"), alone, address.group(2), address.group(3), lines);
            } else if (mtu.matches()) {
                String name = mtu.group(1);
                networkManager(name, "802-3-ethernet.mtu " + mtu.group(2), lines);
                lines.add("# netplan: netplan set ethernets." + name + ".mtu=" + mtu.group(2) + " && netplan apply");
            } else if (IPTABLES.matcher(command).matches() && !commands.endsWith(" save")) {
                lines.add("# to keep it: netfilter-persistent save (package iptables-persistent), or on Fedora and its"
                        + " like service iptables save (package iptables-services)");
            } else if (sysctl.matches()) {
                lines.add("# to keep it: echo '%s = %s' >> /etc/sysctl.d/60-trigon.conf"
                        .formatted(sysctl.group(1), sysctl.group(2)));
            }
        }
        return lines;
    }

    private static void addressed(boolean add, boolean alone, String address, String name, List<String> lines) {
        String family = address.contains(":") ? "ipv6" : "ipv4";
        String manual = add && alone && family.equals("ipv4") ? " ipv4.method manual" : "";
        networkManager(name, (add ? "+" : "-") + family + ".addresses " + address + manual, lines);
        lines.add(
                add
                        ? "# netplan: netplan set 'ethernets.%s.addresses=[%s]' && netplan apply"
                                .formatted(name, address)
                        : "# netplan: take %s from the addresses of %s in /etc/netplan, then netplan apply"
                                .formatted(address, name));
    }

    /** A connection may be called otherwise than its interface. */
    private static void networkManager(String name, String change, List<String> lines) {
        lines.add("# NetworkManager: nmcli connection modify \"$(nmcli -g GENERAL.CONNECTION device show %s)\" %s"
                        .formatted(name, change)
                + " && nmcli device reapply " + name);
    }
}
