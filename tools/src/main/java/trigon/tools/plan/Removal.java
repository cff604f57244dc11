package trigon.tools.plan;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import trigon.cluster.json.Json;

/**
 * Prediction of what is left when a cable or a node is missing.
 *
 * @param cable its ends, such as {@code a-b}; empty for a node
 * @param node its name; empty for a cable
 * @param traffic of the others
 */
record Removal(String cable, String node, Forecast.Traffic traffic) {

    /** The name of what is missing. */
    String name() {
        return cable.isEmpty() ? node : cable;
    }

    Map<String, Object> json() {
        return Json.object(
                "cable", cable.isEmpty() ? Optional.empty() : Optional.of(cable),
                "node", node.isEmpty() ? Optional.empty() : Optional.of(node),
                "connected", traffic.connected(),
                "allToAllGBps", traffic.allToAll(),
                "hops", traffic.hops());
    }

    /** The effect of removals, in a sentence on cables and one on nodes, if there are any. */
    static List<String> words(List<Removal> all) {
        Map<Boolean, List<Removal>> areNodes = all.stream()
                .collect(Collectors.groupingBy(each -> each.cable.isEmpty(), TreeMap::new, Collectors.toList()));
        return areNodes.entrySet().stream()
                .map(each -> words(each.getValue(), each.getKey() ? "node" : "cable"))
                .toList();
    }

    /** Those that part nodes, and the worst of the others. */
    private static String words(List<Removal> these, String kind) {
        List<Removal> parting =
                these.stream().filter(each -> !each.traffic.connected()).toList();
        String parted = parting.isEmpty()
                ? "without any one %s, the others have routes".formatted(kind)
                : "%d of %d %ss part others, such as %s"
                        .formatted(
                                parting.size(),
                                these.size(),
                                kind,
                                parting.getFirst().name());
        return these.stream()
                .filter(each -> each.traffic.connected())
                .min(Comparator.comparingDouble(each -> each.traffic.allToAll()))
                .map(worst -> "%s; the worst is %s: all-to-all %s GB/s, %d hops"
                        .formatted(
                                parted, worst.name(), PlanText.number(worst.traffic.allToAll()), worst.traffic.hops()))
                .orElse(parted);
    }
}
