package trigon.cluster.machine;

import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The program that manages this machine's firewall, found in files that anybody may read.
 *
 * @param manager {@code ufw}, {@code firewalld}, {@code nftables}, {@code iptables}, or empty if none is known
 * @param detail of nftables, the table and chain of incoming packets, for example {@code inet filter input}; of
 *     iptables, the command that keeps its rules; else empty
 */
public record FirewallFacts(String manager, String detail) {

    public static final FirewallFacts NONE = new FirewallFacts("", "");

    private static final List<String> NFTABLES = List.of("etc/nftables.conf", "etc/sysconfig/nftables.conf");
    private static final List<String> TARGETS = List.of("sysinit", "multi-user", "basic");
    private static final Pattern TABLE = Pattern.compile("\\btable\\s+(inet|ip)\\s+(\\w+)\\s*\\{");
    private static final Pattern CHAIN =
            Pattern.compile("\\bchain\\s+(\\w+)\\s*\\{\\s*type\\s+filter\\s+hook\\s+input\\b");

    /** Reads those of that machine, now. */
    public static FirewallFacts of(Machine machine) {
        if (Machine.text(machine.file("etc/ufw/ufw.conf"))
                .filter(text -> text.lines().anyMatch(line -> line.strip().equalsIgnoreCase("ENABLED=yes")))
                .isPresent()) {
            return new FirewallFacts("ufw", "");
        }
        if (Files.exists(machine.file("sys/fs/cgroup/system.slice/firewalld.service"))
                || Files.exists(machine.file("run/firewalld.pid"))) {
            return new FirewallFacts("firewalld", "");
        }
        return nftables(machine).orElseGet(() -> iptables(machine));
    }

    private static Optional<FirewallFacts> nftables(Machine machine) {
        if (!isEnabled(machine, "nftables")) {
            return Optional.empty();
        }
        return NFTABLES.stream()
                .flatMap(file -> Machine.text(machine.file(file)).stream())
                .flatMap(text -> inputChain(text).stream())
                .findFirst()
                .map(chain -> new FirewallFacts("nftables", chain));
    }

    /** The chain that sees incoming packets, with the table that it is in. */
    static Optional<String> inputChain(String rules) {
        Matcher chain = CHAIN.matcher(rules);
        Matcher table = TABLE.matcher(rules);
        String of = "";
        if (!chain.find()) {
            return Optional.empty();
        }
        while (table.find() && table.start() < chain.start()) {
            of = table.group(1) + " " + table.group(2);
        }
        return of.isEmpty() ? Optional.empty() : Optional.of(of + " " + chain.group(1));
    }

    private static FirewallFacts iptables(Machine machine) {
        if (isEnabled(machine, "netfilter-persistent")) {
            return new FirewallFacts("iptables", "netfilter-persistent save");
        }
        return isEnabled(machine, "iptables") ? new FirewallFacts("iptables", "service iptables save") : NONE;
    }

    private static boolean isEnabled(Machine machine, String service) {
        return TARGETS.stream()
                .anyMatch(target -> Files.isSymbolicLink(
                        machine.file("etc/systemd/system/" + target + ".target.wants/" + service + ".service")));
    }
}
