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
import trigon.tools.plan.Cabling.Cable;

/**
 * Speeds of cables in each direction. A DGX Spark has two PCIe links, and each is shared by a function of either port:
 * functions that are used have equal shares of it, as routing counts them, too.
 *
 * @param gigabits of each entry of the cabling, in its order
 * @param wires number of cables
 * @param leastOfWire speed of the slowest cable
 * @param labels speeds that are printed on cables, in Gbit/s
 */
record Speeds(List<Double> gigabits, int wires, double leastOfWire, Set<Double> labels) {

    /** Bandwidth of PCIe 5.0 with four lanes: 32 GT/s less the encoding and the headers of packets. */
    static final double SPARK_PCIE_GIGABITS = 32.0 * 4 * 128 / 130 * 256 / (256 + 28);

    private static final double SPARK_GIGABITS = 200;
    private static final double GIGABITS = 100;

    /**
     * Computes them.
     *
     * @param stated the speed of a cable, if the user has said it
     */
    static Speeds of(Cabling cabling, Optional<Double> stated) {
        Map<String, Set<String>> sharing = new HashMap<>();
        Collection<List<Integer>> wires = wires(cabling);
        List<Cable> cables = cabling.cables();
        for (int i = 0; i < cables.size(); i++) {
            Cable cable = cables.get(i);
            cabling.machines()
                    .pcieLink(cable.from(), cable.fromNic())
                    .ifPresent(link ->
                            sharing.computeIfAbsent(link, _ -> new HashSet<>()).add(cable.fromNic()));
            cabling.machines()
                    .pcieLink(cable.to(), cable.toNic())
                    .ifPresent(link ->
                            sharing.computeIfAbsent(link, _ -> new HashSet<>()).add(cable.toNic()));
        }
        Double[] gigabits = new Double[cables.size()];
        Set<Double> labels = new HashSet<>();
        double least = Double.MAX_VALUE;
        for (List<Integer> wire : wires) {
            double sum = 0;
            for (int i : wire) {
                Cable cable = cables.get(i);
                double label = stated.orElse(isSpark(cabling, cable) ? SPARK_GIGABITS : GIGABITS);
                labels.add(label);
                gigabits[i] = Math.min(
                        label / wire.size(),
                        Math.min(
                                share(cabling, cable.from(), cable.fromNic(), sharing),
                                share(cabling, cable.to(), cable.toNic(), sharing)));
                sum += gigabits[i];
            }
            least = Math.min(least, sum);
        }
        return new Speeds(List.of(gigabits), wires.size(), least, labels);
    }

    /** The entries of each cable. */
    static Collection<List<Integer>> wires(Cabling cabling) {
        Map<Set<String>, List<Integer>> wires = new LinkedHashMap<>();
        for (int i = 0; i < cabling.cables().size(); i++) {
            Cable cable = cabling.cables().get(i);
            Set<String> ends =
                    Set.of(cabling.port(cable.from(), cable.fromNic()), cabling.port(cable.to(), cable.toNic()));
            wires.computeIfAbsent(ends, _ -> new ArrayList<>()).add(i);
        }
        return wires.values();
    }

    private static boolean isSpark(Cabling cabling, Cable cable) {
        return cabling.machines().isSpark(cable.from()) && cabling.machines().isSpark(cable.to());
    }

    private static double share(Cabling cabling, String node, String nic, Map<String, Set<String>> sharing) {
        return cabling.machines()
                .pcieLink(node, nic)
                .map(link -> SPARK_PCIE_GIGABITS
                        / sharing.getOrDefault(link, Set.of(nic)).size())
                .orElse(Double.MAX_VALUE);
    }

    /** Tells whether a cable carries less than is printed on it. */
    boolean isLimited() {
        return labels.stream().anyMatch(label -> leastOfWire < label);
    }
}
