package trigon.tools.plan;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import trigon.cluster.probe.Observations;
import trigon.system.InterfaceAddress;
import trigon.tools.console.CommandFailure;
import trigon.tools.doctor.Cables;

/**
 * Nodes and the cables between them.
 *
 * @param nodes by name, in the order in which they first appear
 * @param cables in the order of the user's list; where two functions of a port lead to one cable, it is here twice
 * @param machines facts of the nodes
 */
public record Cabling(List<String> nodes, List<Cable> cables, Machines machines) {

    /**
     * A cable, or what two functions of ports have of one.
     *
     * @param from name of a node
     * @param fromNic its interface
     * @param to name of another node
     * @param toNic its interface
     */
    public record Cable(String from, String fromNic, String to, String toNic) {

        /** Returns whether it joins the same two nodes. */
        boolean isBeside(Cable other) {
            return (from.equals(other.from) && to.equals(other.to)) || (from.equals(other.to) && to.equals(other.from));
        }

        List<String> nicsOf(String node) {
            return from.equals(node) ? List.of(fromNic) : to.equals(node) ? List.of(toNic) : List.of();
        }
    }

    /** The most nodes that a plan may have. */
    public static final int MAX_NODES = 1024;

    private static final Pattern END =
            Pattern.compile("([A-Za-z0-9][A-Za-z0-9._@-]{0,62}?)(?::([A-Za-z0-9._@-]{1,15}))?");

    public Cabling {
        nodes = List.copyOf(nodes);
        cables = List.copyOf(cables);
    }

    /**
     * Reads a file; {@link CableList} describes its form.
     *
     * @param name of the file, for errors
     * @param spark true if all nodes are DGX Sparks, whose interfaces have names of their own
     */
    public static Cabling read(String name, String text, boolean spark) {
        return CableList.read(name, text, spark);
    }

    /**
     * Makes a cabling of a {@linkplain CableShape shape}.
     *
     * @param nodes their names; n1, n2 and so on if there are none
     * @param spark true if all nodes are DGX Sparks
     * @throws IllegalArgumentException if it is none
     */
    public static Cabling shape(String text, List<String> nodes, boolean spark) {
        CableShape.Sized shape = CableShape.parse(text);
        int size = shape.nodes();
        if (!nodes.isEmpty() && nodes.stream().distinct().count() != size) {
            throw new IllegalArgumentException("--nodes is %s: must be %d different names, for --shape %s"
                    .formatted(String.join(",", nodes), size, text));
        }
        List<String> names = nodes.isEmpty()
                ? IntStream.rangeClosed(1, size).mapToObj(i -> "n" + i).toList()
                : nodes;
        List<String[]> ends = shape.cables().stream()
                .map(cable -> new String[] {names.get(cable[0]), names.get(cable[1]), "--shape"})
                .toList();
        return of(ends, Machines.of(spark));
    }

    /**
     * Makes a cabling of what nodes have found.
     *
     * @param isPlanned of an end, such as {@code a eth1}; cables with another one are left out
     * @param elsewhere subnets that no cable may get, besides those of the nodes' other interfaces
     * @param spark true if all nodes are DGX Sparks, whatever they say
     * @throws CommandFailure if there are no cables
     */
    public static Cabling of(
            Observations seen, Predicate<String> isPlanned, List<InterfaceAddress> elsewhere, boolean spark) {
        List<String[]> ends = new ArrayList<>();
        Map<String, List<InterfaceAddress>> addresses = new HashMap<>();
        List<InterfaceAddress> used = new ArrayList<>(elsewhere);
        Set<String> planned = new HashSet<>();
        for (Cables.Cable cable : Cables.of(seen)) {
            if (isPlanned.test(cable.from()) && isPlanned.test(cable.to())) {
                planned.addAll(List.of(cable.from(), cable.to()));
                ends.add(
                        new String[] {cable.from().replace(' ', ':'), cable.to().replace(' ', ':'), "a cable found"});
            }
        }
        seen.facts()
                .forEach((node, facts) -> facts.interfaces().forEach(nic -> {
                    if (planned.contains(node + " " + nic.name())) {
                        addresses.put(node + ":" + nic.name(), nic.ownAddresses());
                    } else {
                        used.addAll(nic.ownAddresses());
                    }
                }));
        Set<String> sparks = seen.facts().entrySet().stream()
                .filter(node -> node.getValue().isDgxSpark())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        return of(ends, new Machines(spark, sparks, addresses, used));
    }

    /** Makes a cabling of pairs of ends, each with the place that errors name. */
    static Cabling of(List<String[]> ends, Machines machines) {
        Map<String, Integer> links = new LinkedHashMap<>();
        TreeSet<String> used = new TreeSet<>();
        List<Cable> cables = new ArrayList<>();
        for (String[] each : ends) {
            String[] from = end(each[0], each[2], links, used, machines);
            String[] to = end(each[1], each[2], links, used, machines);
            if (from[0].equals(to[0])) {
                throw new CommandFailure(each[2] + ": both ends of the cable are at " + from[0]);
            }
            cables.add(new Cable(from[0], from[1], to[0], to[1]));
        }
        if (cables.isEmpty()) {
            throw new CommandFailure("there are no cables to plan");
        }
        if (links.size() > MAX_NODES) {
            throw new CommandFailure(links.size() + " nodes are more than the " + MAX_NODES + " that a plan may have");
        }
        return new Cabling(List.copyOf(links.keySet()), withTwins(cables, machines), machines);
    }

    /** Adds a cable for the other functions of both ports, unless it is listed. */
    private static List<Cable> withTwins(List<Cable> listed, Machines machines) {
        Set<String> used = new HashSet<>();
        listed.forEach(cable -> {
            used.add(cable.from() + ":" + cable.fromNic());
            used.add(cable.to() + ":" + cable.toNic());
        });
        List<Cable> all = new ArrayList<>();
        for (Cable cable : listed) {
            all.add(cable);
            Optional<String> from = machines.twin(cable.from(), cable.fromNic());
            Optional<String> to = machines.twin(cable.to(), cable.toNic());
            if (from.isPresent()
                    && to.isPresent()
                    && !used.contains(cable.from() + ":" + from.get())
                    && !used.contains(cable.to() + ":" + to.get())) {
                all.add(new Cable(cable.from(), from.get(), cable.to(), to.get()));
            }
        }
        return all;
    }

    private static String[] end(
            String text, String place, Map<String, Integer> links, TreeSet<String> used, Machines machines) {
        Matcher matcher = END.matcher(text);
        if (!matcher.matches()) {
            throw new CommandFailure(
                    place + ": \"" + text + "\" is not the end of a cable: write NODE or NODE:INTERFACE");
        }
        int number = links.merge(matcher.group(1), 1, Integer::sum);
        String node = matcher.group(1);
        boolean spark = machines.isSpark(node);
        String nic = matcher.group(2);
        if (nic == null) {
            nic = spark
                    ? freePort(used, node, machines)
                            .orElseThrow(() -> new CommandFailure(
                                    place + ": a DGX Spark has two ports, and " + node + " would have a third cable"))
                    : "link" + number;
        } else if (spark && machines.port(node, nic).isEmpty()) {
            throw new CommandFailure(place + ": " + nic + " is not a port of a DGX Spark: "
                    + String.join(", ", Machines.SPARK_PORTS) + " and their second functions");
        }
        if (!used.add(matcher.group(1) + ":" + nic)) {
            throw new CommandFailure(place + ": " + nic + " of " + matcher.group(1) + " already has a cable");
        }
        return new String[] {matcher.group(1), nic};
    }

    private static Optional<String> freePort(Collection<String> used, String node, Machines machines) {
        return Machines.SPARK_PORTS.stream()
                .filter(name -> !used.contains(node + ":" + name)
                        && machines.twin(node, name)
                                .filter(twin -> used.contains(node + ":" + twin))
                                .isEmpty())
                .findFirst();
    }

    /**
     * The same with one more cable; empty if a node has no port for it.
     *
     * @param ports of each node
     */
    Optional<Cabling> with(String one, String other, int ports) {
        Optional<String> from = newPort(one, ports);
        Optional<String> to = newPort(other, ports);
        if (from.isEmpty() || to.isEmpty()) {
            return Optional.empty();
        }
        List<Cable> more = new ArrayList<>(cables);
        more.add(new Cable(one, from.get(), other, to.get()));
        return Optional.of(new Cabling(nodes, withTwins(more, machines), machines));
    }

    private Optional<String> newPort(String node, int ports) {
        if (machines.isSpark(node)) {
            Set<String> used = new HashSet<>();
            cables.forEach(cable -> cable.nicsOf(node).forEach(nic -> used.add(node + ":" + nic)));
            return freePort(used, node, machines);
        }
        return usedPorts(node) < ports ? Optional.of("new") : Optional.empty();
    }

    /** Returns whether a node has a port for one more cable. */
    boolean hasFreePort(String node, int ports) {
        return newPort(node, ports).isPresent();
    }

    /** Number of a node's ports that have a cable. */
    long usedPorts(String node) {
        return cables.stream()
                .flatMap(cable -> cable.nicsOf(node).stream())
                .map(nic -> port(node, nic))
                .distinct()
                .count();
    }

    /** The same without some entries. */
    Cabling without(List<Integer> entries) {
        List<Cable> left = IntStream.range(0, cables.size())
                .filter(i -> !entries.contains(i))
                .mapToObj(cables::get)
                .toList();
        return new Cabling(nodes, left, machines);
    }

    /** The port of an interface: the same text for both functions of a DGX Spark's port. */
    String port(String node, String nic) {
        return node + ":" + machines.port(node, nic).map(port -> "port " + port).orElse(nic);
    }
}
