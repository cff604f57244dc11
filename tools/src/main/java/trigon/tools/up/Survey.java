package trigon.tools.up;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.InterfaceAddress;

/**
 * A node's interfaces and routes as only root and {@code ip} know them. It is read strictly: a line that is not
 * understood counts as none.
 *
 * @param nics by name, without the loopback
 * @param routes of all tables, but for those of the node's own addresses and the default
 * @param leased addresses that end by themselves, as those of DHCP do
 * @param neighbours hardware addresses that were seen on an interface, by its name
 * @param deaf interfaces on which somebody has switched IPv6 off, by which the nodes hear each other, and that have no
 *     default route
 */
record Survey(
        Map<String, Link> nics,
        List<Route> routes,
        Set<String> leased,
        Map<String, Set<String>> neighbours,
        Set<String> deaf) {

    /**
     * An interface.
     *
     * @param up true if somebody has brought it up, whether or not a cable is in it
     * @param mostMtu the largest MTU that it can have; 0 if it is not known
     * @param use {@code wireless}; {@code port} of a bridge or a bond; {@code virtual} without a NIC; else {@code nic}
     */
    record Link(boolean up, int mtu, int mostMtu, String use) {}

    /** A subnet to which an interface leads. */
    record Route(InterfaceAddress subnet, String nic) {}

    /** Prints it, as root. */
    static final String SCRIPT = """
            for d in /sys/class/net/*; do
              n=${d##*/}
              [ -e "$d/ifindex" ] && [ "$n" != lo ] || continue
              use=virtual
              [ -e "$d/device" ] && use=nic
              ip -d -o link show dev "$n" | grep -q ' veth ' && use=nic
              if [ -e "$d/wireless" ] || [ -e "$d/phy80211" ]; then use=wireless; fi
              [ -e "$d/master" ] && use=port
              most=$(ip -d -o link show dev "$n" | sed -n 's/.* maxmtu \\([0-9]*\\).*/\\1/p')
              if [ "$(cat "/proc/sys/net/ipv6/conf/$n/disable_ipv6" 2>/dev/null)" = 1 ] \
                && [ "$use" = nic ] && [ -z "$(ip route show default dev "$n")" ]; then
                echo "deaf $n"
              fi
              echo "nic $n $(cat "$d/flags") $(cat "$d/mtu") ${most:-0} $use"
            done
            ip -o -4 route show table all | sed 's/^/route /'
            ip -o addr show | sed 's/^/addr /'
            ip -o neigh show | sed 's/^/neigh /'
            echo end
            """;

    private static final String NAME = "([A-Za-z0-9._@-]{1,15})";
    private static final Pattern NIC =
            Pattern.compile("nic " + NAME + " 0x([0-9a-f]{1,8}) (\\d{1,6}) (\\d{1,9}) ([a-z]+)");
    private static final Pattern DEAF = Pattern.compile("deaf " + NAME);
    private static final Pattern ROUTE =
            Pattern.compile("route (?:unicast )?([0-9.]{7,15}(?:/\\d{1,2})?) (?:.* )?dev " + NAME + "(?: .*)?");
    private static final Pattern ADDRESS =
            Pattern.compile("addr \\d+: " + NAME + " +inet6? (\\S+/\\d+) .*\\bdynamic\\b.*");
    private static final Pattern NEIGHBOUR =
            Pattern.compile("neigh \\S+ dev " + NAME + " lladdr ([0-9a-f:]{17}) (?!.*FAILED).*");

    private static final int IFF_UP = 1;

    /** Reads what the script has printed. */
    static Survey read(String text) {
        Map<String, Link> nics = new LinkedHashMap<>();
        List<Route> routes = new ArrayList<>();
        Set<String> leased = new TreeSet<>();
        Map<String, Set<String>> neighbours = new LinkedHashMap<>();
        Set<String> deaf = new TreeSet<>();
        for (String line : text.split("\n", -1)) {
            Matcher hearsNobody = DEAF.matcher(line);
            Matcher nic = NIC.matcher(line);
            Matcher route = ROUTE.matcher(line);
            Matcher address = ADDRESS.matcher(line);
            Matcher neighbour = NEIGHBOUR.matcher(line);
            if (nic.matches()) {
                boolean up = (Integer.parseUnsignedInt(nic.group(2), 16) & IFF_UP) != 0;
                nics.put(
                        nic.group(1),
                        new Link(up, Integer.parseInt(nic.group(3)), Integer.parseInt(nic.group(4)), nic.group(5)));
            } else if (route.matches()) {
                String subnet = route.group(1);
                parsed(subnet.contains("/") ? subnet : subnet + "/32")
                        .forEach(each -> routes.add(new Route(each, route.group(2))));
            } else if (address.matches()) {
                parsed(address.group(2)).forEach(each -> leased.add(each.toString()));
            } else if (neighbour.matches()) {
                neighbours
                        .computeIfAbsent(neighbour.group(1), _ -> new TreeSet<>())
                        .add(neighbour.group(2));
            } else if (hearsNobody.matches()) {
                deaf.add(hearsNobody.group(1));
            }
        }
        return new Survey(nics, routes, leased, neighbours, deaf);
    }

    private static List<InterfaceAddress> parsed(String text) {
        try {
            return List.of(InterfaceAddress.parse(text));
        } catch (IllegalArgumentException _) {
            return List.of();
        }
    }

    /** Interfaces that may have a cable, and that nobody has brought up. */
    List<String> down() {
        return nics.entrySet().stream()
                .filter(nic -> !nic.getValue().up() && nic.getValue().use().equals("nic"))
                .map(Map.Entry::getKey)
                .toList();
    }
}
