package trigon.tools.bench;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.system.InterfaceAddress;
import trigon.tools.bench.BenchStep.Kind;

/**
 * Places where the ranks of each step meet: a folder if all are on this machine, else a port of rank 0. Each step has
 * its own port. Without a common network, each node reaches rank 0 at another address.
 *
 * @param folder of this machine
 * @param steps number of steps
 * @param hosts rank 0's address for each other rank, from rank 1 on; for one rank of several nodes a single one; empty
 *     if all ranks are on this machine
 * @param port the first one that is used
 * @param pairs true if the hosts are the addresses of all ranks instead, and each step meets at its first rank
 */
record Meetings(Path folder, int steps, List<String> hosts, int port, boolean pairs) {

    Meetings(Path folder, int steps, List<String> hosts, int port) {
        this(folder, steps, hosts, port, false);
    }

    static final int DEFAULT_PORT = 27_600;

    /** One for nccl-host, and one for each of perftest's programs. */
    private static final int PORTS_OF_A_STEP = 3;

    private static final int LAST_PORT = 65_535;

    /** Parses {@code HOST:PORT}; empty if it is none, or leaves too few ports for the steps. */
    static Optional<Meetings> parse(Path folder, int steps, String text) {
        int colon = text.lastIndexOf(':');
        if (!text.matches(".+:\\d{1,5}")) {
            return Optional.empty();
        }
        int port = Integer.parseInt(text.substring(colon + 1));
        return port + PORTS_OF_A_STEP * steps <= LAST_PORT
                ? Optional.of(new Meetings(folder, steps, List.of(text.substring(0, colon)), port))
                : Optional.empty();
    }

    /**
     * This machine's addresses for some nodes, by their names. A node whose name is unknown gets the address for the
     * others.
     *
     * @throws IOException if no node's name has an address to which there is a route
     */
    static List<String> hostsFor(List<String> nodes) throws IOException {
        List<String> known = new ArrayList<>();
        IOException last = new IOException("no other node");
        for (String node : nodes) {
            try {
                known.add(hostFor(node));
            } catch (IOException e) {
                last = e;
                known.add("");
            }
        }
        Optional<String> right = known.stream().filter(each -> !each.isEmpty()).findFirst();
        if (right.isEmpty()) {
            throw last;
        }
        known.replaceAll(each -> each.isEmpty() ? right.get() : each);
        return known;
    }

    private static String hostFor(String node) throws IOException {
        InetAddress address = InetAddress.getByName(node);
        if (flaw(node, address).isPresent()) {
            throw new IOException("%s is %s here, which is this machine itself; see /etc/hosts"
                    .formatted(node, InterfaceAddress.text(address)));
        }
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(address, DEFAULT_PORT)); // sends nothing
            return InterfaceAddress.text(socket.getLocalAddress());
        }
    }

    /**
     * Reason why ranks of other machines cannot meet at the first host: the name has an address of the loopback on this
     * machine, as Debian's /etc/hosts gives the host's own. An address, or localhost, is meant.
     */
    Optional<String> flaw() {
        try {
            return flaw(hosts.getFirst(), InetAddress.getByName(hosts.getFirst()));
        } catch (UnknownHostException e) {
            return Optional.of("%s has no address on this machine".formatted(hosts.getFirst()));
        }
    }

    static Optional<String> flaw(String host, InetAddress address) {
        boolean isName = !address.getHostAddress().equals(host) && !host.equals("localhost");
        return isName && address.isLoopbackAddress()
                ? Optional.of("%s is %s on this machine, where no other machine's rank can meet it; give an address of"
                                .formatted(host, InterfaceAddress.text(address))
                        + " rank 0's machine, or correct /etc/hosts")
                : Optional.empty();
    }

    boolean areHere() {
        return hosts.isEmpty();
    }

    /** Rank 0's address for another rank. */
    private String host(int other) {
        return hosts.get(Math.min(other, hosts.size()) - 1);
    }

    /** Rank 0's address and first port for another rank: its option {@code --meet}. */
    String of(int other) {
        return host(other) + ":" + port;
    }

    /** The option of nccl-host. With several addresses, rank 0 listens at all of them. */
    String of(BenchStep step, int number) throws IOException {
        if (areHere()) {
            return Files.createDirectory(folder.resolve("meeting-" + number)).toString();
        }
        String host = host(step);
        if (!pairs && step.kind() == Kind.ALL_REDUCE && Set.copyOf(hosts).size() > 1) {
            host = hosts.stream().anyMatch(each -> each.contains(":")) ? "::" : "0.0.0.0";
        }
        return host + ":" + (port + number);
    }

    /** The first rank's address for the step's second one. */
    String host(BenchStep step) {
        return pairs ? hosts.get(step.ranks().getFirst()) : host(step.ranks().get(1));
    }

    /** The step's first port for perftest: two ports after those of the steps. */
    int perftestPort(int number) {
        return port + steps + 2 * number;
    }

    /**
     * Interfaces to which all other nodes' names lead: usually a network that they share. None if it is this machine's
     * only one.
     */
    Set<String> sharedInterfaces(HostInterfaces interfaces) {
        Set<String> names =
                hosts.stream().distinct().flatMap(host -> at(interfaces, host)).collect(Collectors.toSet());
        boolean others = interfaces.interfaces().stream()
                .anyMatch(each -> !each.loopback()
                        && each.addresses().stream().anyMatch(own -> !own.isLinkLocal())
                        && !names.contains(each.name()));
        return names.size() == 1 && others ? names : Set.of();
    }

    private static Stream<String> at(HostInterfaces interfaces, String host) {
        InetAddress address;
        try {
            address = InterfaceAddress.parseAddress(host);
        } catch (IllegalArgumentException _) {
            return Stream.empty(); // a name
        }
        return interfaces.interfaces().stream()
                .filter(each -> !each.loopback()
                        && each.addresses().stream()
                                .anyMatch(own -> own.address().equals(address)))
                .map(HostInterface::name);
    }
}
