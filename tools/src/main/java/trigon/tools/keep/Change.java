package trigon.tools.keep;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.InterfaceAddress;

/** A change of a node's network, which a command makes until the node restarts. */
public sealed interface Change {

    /** The command, as root types it. */
    String command();

    /** An interface gets an address; again changes nothing. */
    record Add(String nic, InterfaceAddress address) implements Change {

        @Override
        public String command() {
            return "ip addr replace %s dev %s".formatted(address, nic);
        }
    }

    /** An interface loses an address. */
    record Remove(String nic, InterfaceAddress address) implements Change {

        @Override
        public String command() {
            return "ip addr del %s dev %s".formatted(address, nic);
        }
    }

    /** An interface comes up, with an MTU in bytes. */
    record Link(String nic, int mtu) implements Change {

        @Override
        public String command() {
            return "ip link set %s mtu %d up".formatted(nic, mtu);
        }
    }

    /** A setting of the kernel, as sysctl(8) calls it. */
    record KernelSetting(String name, String value) implements Change {

        @Override
        public String command() {
            return "sysctl -w %s=%s".formatted(name, value);
        }
    }

    /**
     * A rule of iptables(8).
     *
     * @param saved true if the command keeps it, too
     */
    record FirewallRule(String command, boolean saved) implements Change {}

    /** Any other command, which changes nothing that could be kept. */
    record Other(String command) implements Change {}

    /** Reads a command line of the doctor: commands joined by {@code &&}. */
    static List<Change> in(String line) {
        boolean saved = line.endsWith(" save");
        return Pattern.compile(" && ")
                .splitAsStream(line)
                .map(command -> read(command, saved))
                .toList();
    }

    private static Change read(String command, boolean saved) {
        Matcher address = Pattern.compile("ip addr (add|replace|del) (\\S+/\\d+) dev (\\S+)")
                .matcher(command);
        if (address.matches()) {
            InterfaceAddress which = InterfaceAddress.parse(address.group(2));
            return address.group(1).equals("del")
                    ? new Remove(address.group(3), which)
                    : new Add(address.group(3), which);
        }
        Matcher mtu =
                Pattern.compile("ip link set (\\S+) mtu (\\d{1,5})(?: up)?").matcher(command);
        if (mtu.matches()) {
            return new Link(mtu.group(1), Integer.parseInt(mtu.group(2)));
        }
        Matcher setting = Pattern.compile("sysctl -w (\\S+)=(\\S+)").matcher(command);
        if (setting.matches()) {
            return new KernelSetting(setting.group(1), setting.group(2));
        }
        return command.matches("ip6?tables -I .*") ? new FirewallRule(command, saved) : new Other(command);
    }
}
