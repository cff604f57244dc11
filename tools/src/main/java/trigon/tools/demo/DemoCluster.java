package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * The nodes of a demo, which are letters, and the NICs at the ends of their cables. Each cable is a subnet.
 *
 * @param links the setting of that name
 * @param nics by node
 */
record DemoCluster(String links, SortedMap<Character, List<Nic>> nics) {

    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 10_000;

    /** The nodes and cables of a demo. A cable has the letters of its ends, in their order. */
    enum Shape {
        TRIANGLE("abc", "ab ac bc"),
        RING4("abcd", "ab bc cd ad"),
        LINE4("abcd", "ab bc cd"),
        STAR4("abcd", "ab ac ad"),
        LINE7("abcdefg", "ab bc cd de ef fg"),
        RING8("abcdefgh", "ab bc cd de ef fg gh ah"),
        /** Three rows of three, each row and each column a ring. */
        TORUS3X3("abcdefghi", "ab bc ac de ef df gh hi gi ad dg ag be eh bh cf fi ci");

        private final String nodes;
        private final String cables;

        Shape(String nodes, String cables) {
            this.nodes = nodes;
            this.cables = cables;
        }

        String nodes() {
            return nodes;
        }

        List<String> cables() {
            return List.of(cables.split(" ", -1));
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The kind of the cables. */
    enum Links {
        /** RDMA where the lab's devices are, else software. */
        AUTO,
        /** TCP on loopback addresses. */
        SOFTWARE,
        /** The devices that the lab makes. */
        RDMA,
        /** RDMA devices that are no hardware. */
        SIMULATED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * An end of a cable.
     *
     * @param cable its name
     * @param device of RDMA; empty for TCP
     * @param address of IPv4, with its prefix
     */
    record Nic(String cable, String device, String address) {
        /** An entry of the list of NICs. */
        @Override
        public String toString() {
            return device.isEmpty()
                    ? "{address: " + address + "}"
                    : "{device: " + device + ", address: " + address + "}";
        }
    }

    /**
     * Makes the cluster of a shape.
     *
     * @param cut the cable that is left out
     */
    static DemoCluster of(Shape shape, Optional<String> cut, Links links) {
        boolean direct = shape == Shape.TRIANGLE && cut.isEmpty();
        String setting = links == Links.SOFTWARE ? "software" : direct ? "rdma" : "auto"; // relays may be TCP
        DemoCluster cluster = new DemoCluster(setting, new TreeMap<>());
        shape.nodes().chars().forEach(node -> cluster.nics.put((char) node, new ArrayList<>()));
        String device = links == Links.RDMA ? "rxe" : links == Links.SIMULATED ? "sim" : "";
        shape.cables().stream()
                .filter(cable -> !cut.equals(Optional.of(cable)))
                .forEach(cable -> cluster.join(cable, cable, device, links == Links.RDMA ? "10.0" : "127.0"));
        return cluster;
    }

    /** A triangle with two cables between each two nodes, on addresses that begin with that number. */
    static DemoCluster doubleTriangle(int network) {
        DemoCluster cluster = new DemoCluster("software", new TreeMap<>());
        for (int number = 1; number <= 2; number++) {
            for (String cable : Shape.TRIANGLE.cables()) {
                cluster.join(cable, cable + number, "", network + "." + number);
            }
        }
        return cluster;
    }

    private void join(String ends, String cable, String device, String network) {
        for (int end = 0; end < 2; end++) {
            char node = ends.charAt(end);
            String name = device.isEmpty() ? "" : device + "_" + node + ends.charAt(1 - end);
            String address = "%s.%d%d.%d/24"
                    .formatted(network, ends.charAt(0) - 'a' + 1, ends.charAt(1) - 'a' + 1, node - 'a' + 1);
            nics.computeIfAbsent(node, _ -> new ArrayList<>()).add(new Nic(cable, name, address));
        }
    }

    /** The entry of each node in the cluster file. */
    List<String> entries() {
        return nics.entrySet().stream()
                .map(node -> "  %c: {nics: %s}".formatted(node.getKey(), node.getValue()))
                .toList();
    }

    /** Writes the file for the variable {@code TRIGON_CONFIG}, with these settings of the handshake. */
    void write(Path file, String handshake) throws IOException {
        Files.writeString(file, """
                version: 1
                links: %s
                handshake: {%s}
                topology: {port: %d}
                nodes:
                %s
                """.formatted(
                        links,
                        handshake,
                        FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS),
                        String.join("\n", entries())));
    }

    /** For sh, in a namespace: gives the loopback interface all addresses. */
    String addresses() {
        return "ip link set lo up"
                + nics.values().stream()
                        .flatMap(List::stream)
                        .map(nic -> " && ip address replace " + nic.address() + " dev lo")
                        .collect(Collectors.joining());
    }

    /** For sh, in a namespace for mounts: makes a network namespace for each node, with virtual cables. */
    String namespaces() {
        StringBuilder script = new StringBuilder("mount -t tmpfs tmpfs /run");
        nics.keySet()
                .forEach(node ->
                        script.append(" && ip netns add %1$c && ip -n %1$c link set lo up && ip netns exec %1$c true"
                                .formatted(node)));
        nics.forEach((node, own) -> own.forEach(nic -> {
            char[] ends = nic.cable().toCharArray();
            if (ends[0] == node) {
                script.append(" && ip -n %1$c link add %3$s type veth peer name %3$s netns %2$c"
                        .formatted(ends[0], ends[1], nic.cable()));
            }
            script.append(" && ip -n %1$c address add %3$s dev %2$s && ip -n %1$c link set %2$s up"
                    .formatted(node, nic.cable(), nic.address()));
        }));
        return script.toString();
    }

    /** For the variable of simulated devices: each with its address. */
    String devices(char node) {
        return nics.getOrDefault(node, List.of()).stream()
                .map(nic -> nic.device() + "=" + nic.address())
                .collect(Collectors.joining(","));
    }
}
