package trigon.tools.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The cables of a demo.
 *
 * @param cut the cable of the shape that is left out, if one is
 * @param links what they are, but for {@link DemoLinks#AUTO}
 */
record Layout(DemoShape shape, Optional<String> cut, DemoLinks links) {

    /**
     * The settings of the nodes.
     *
     * @param reversed a bit for each node, the highest of three for the first, which lists its NICs in reverse
     * @param handshake its settings
     */
    ClusterFile file(int reversed, String handshake) {
        TreeMap<Character, List<Nic>> nodes = new TreeMap<>();
        for (int i = 0; i < shape.nodes().length(); i++) {
            List<Nic> nics = nics(shape.nodes().charAt(i));
            if ((reversed & (4 >> i)) != 0) {
                Collections.reverse(nics);
            }
            nodes.put(shape.nodes().charAt(i), nics);
        }
        return new ClusterFile(setting(), handshake, nodes);
    }

    /** Relays, and what they carry, are TCP. */
    private String setting() {
        boolean direct = shape == DemoShape.TRIANGLE && cut.isEmpty();
        return links == DemoLinks.SOFTWARE ? "software" : direct ? "rdma" : "auto";
    }

    /** For the device's variable: each with its address. */
    String devices(char node) {
        return nics(node).stream()
                .map(nic -> nic.device() + "=" + nic.address())
                .collect(Collectors.joining(","));
    }

    private List<Nic> nics(char node) {
        List<Nic> nics = new ArrayList<>();
        for (String cable : shape.cables()) {
            int end = cable.indexOf(node);
            if (end >= 0 && !cut.equals(Optional.of(cable))) {
                nics.add(Nic.of(links, node, cable.charAt(1 - end)));
            }
        }
        return nics;
    }

    @Override
    public String toString() {
        return shape
                + cut.map(cable -> " without " + cable.charAt(0) + "-" + cable.charAt(1))
                        .orElse("");
    }
}
