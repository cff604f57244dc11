package trigon.tools.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.tools.console.CommandFailure;

/**
 * A subnet of its own for each cable.
 *
 * @param prefix of the subnets: 24, 30 or 31
 * @param byNode the interfaces of each node, with their addresses
 * @param names of the subnets, in the order of the cables
 */
record Subnets(int prefix, Map<String, List<NicAddress>> byNode, List<String> names) {

    /** An interface and its address. */
    record NicAddress(String nic, String address) {}

    private static final int MOST_OF_24 = 250;

    /**
     * In 10.BASE.0.0/16.
     *
     * @throws WrongOption if there is no such base or prefix
     * @throws CommandFailure if there are too many cables for it
     */
    static Subnets of(Cabling cabling, int base, int wanted) {
        int prefix = wanted > 0 ? wanted : cabling.cables().size() <= MOST_OF_24 ? 24 : 31;
        int size = 1 << (32 - prefix);
        if (base < 0 || base > 255 || (prefix != 24 && prefix != 30 && prefix != 31)) {
            throw new WrongOption("--base must be 0 to 255, and --prefix 24, 30 or 31");
        }
        if ((long) cabling.cables().size() * size > 1 << 16) {
            throw new CommandFailure("%d subnets of /%d do not fit into 10.%d.0.0/16: take --prefix 31"
                    .formatted(cabling.cables().size(), prefix, base));
        }
        Map<String, List<NicAddress>> byNode = new LinkedHashMap<>();
        cabling.nodes().forEach(node -> byNode.put(node, new ArrayList<>()));
        List<String> names = new ArrayList<>();
        int first = prefix == 31 ? 0 : 1;
        for (int i = 0; i < cabling.cables().size(); i++) {
            Cabling.Cable cable = cabling.cables().get(i);
            names.add(text(base, i * size) + "/" + prefix);
            byNode.computeIfAbsent(cable.from(), _ -> new ArrayList<>())
                    .add(new NicAddress(cable.fromNic(), text(base, i * size + first) + "/" + prefix));
            byNode.computeIfAbsent(cable.to(), _ -> new ArrayList<>())
                    .add(new NicAddress(cable.toNic(), text(base, i * size + first + 1) + "/" + prefix));
        }
        return new Subnets(prefix, byNode, names);
    }

    private static String text(int base, int offset) {
        return "10." + base + "." + (offset >> 8) + "." + (offset & 255);
    }
}
