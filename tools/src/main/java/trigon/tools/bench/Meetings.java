package trigon.tools.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.routing.discovery.HostInterfaces;
import trigon.system.InterfaceAddress;
import trigon.tools.bench.Measurement.Kind;

/**
 * Where the ranks of each step meet: a folder if all are on this machine, else a port of rank 0. Each step has its own,
 * so that nobody meets those of another. Without a common network, each node reaches rank 0 at another address.
 *
 * @param folder of this machine
 * @param steps how many there are
 * @param byOther rank 0's address for each other rank, from rank 1 on; for one rank of several nodes the same for all;
 *     empty if all ranks are on this machine
 */
record Meetings(Path folder, int steps, List<Meeting> byOther) {

    Meetings {
        byOther = List.copyOf(byOther);
    }

    /**
     * This machine's addresses for some nodes, by their names. A node whose name is not known is given the address for
     * the others.
     *
     * @throws IOException if no node's name has an address to which there is a route
     */
    static List<Meeting> withNodes(List<String> nodes) throws IOException {
        List<Meeting> known = new ArrayList<>();
        IOException last = new IOException("no other node");
        for (String node : nodes) {
            try {
                known.add(Meeting.withNode(node));
            } catch (IOException e) {
                last = e;
                known.add(new Meeting("", 0));
            }
        }
        List<Meeting> right =
                known.stream().filter(each -> !each.host().isEmpty()).toList();
        if (right.isEmpty()) {
            throw last;
        }
        known.replaceAll(each -> each.host().isEmpty() ? right.getFirst() : each);
        return known;
    }

    boolean areHere() {
        return byOther.isEmpty();
    }

    /** Rank 0's address and first port for another rank. */
    Meeting of(int other) {
        return byOther.get(Math.min(other, byOther.size()) - 1);
    }

    /** The option of nccl-host. */
    String of(BenchStep step, int number) throws IOException {
        if (areHere()) {
            return Files.createDirectory(folder.resolve("meeting-" + number)).toString();
        }
        Meeting meeting = with(step).after(number);
        Set<String> hosts = byOther.stream().map(Meeting::host).collect(Collectors.toSet());
        return step.kind() == Kind.ALL_REDUCE && hosts.size() > 1
                ? new Meeting(anyAddress(hosts), meeting.port()).toString()
                : meeting.toString();
    }

    /** Rank 0 listens at all of its addresses. */
    private static String anyAddress(Set<String> hosts) {
        return hosts.stream().anyMatch(host -> host.contains(":")) ? "::" : "0.0.0.0";
    }

    /** The same step's for perftest: two ports after those of the steps. */
    Meeting ofPerftest(BenchStep step, int number) {
        return with(step).after(steps + 2 * number);
    }

    private Meeting with(BenchStep step) {
        return of(step.ranks().get(1));
    }

    /**
     * Interfaces to which all other nodes' names lead: usually a network that they share. None if it is this machine's
     * only one.
     */
    Set<String> sharedInterfaces(HostInterfaces interfaces) {
        Set<String> names = byOther.stream()
                .map(Meeting::host)
                .distinct()
                .flatMap(host -> at(interfaces, host))
                .collect(Collectors.toSet());
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
                .map(each -> each.name());
    }
}
