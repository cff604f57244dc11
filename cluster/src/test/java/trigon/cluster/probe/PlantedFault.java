package trigon.cluster.probe;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;

/** A fault of nodes a, b and c, whose cables are ab1, ac2 and bc3, with what the doctor has to find. */
public final class PlantedFault {

    /** A command on a node. */
    private record Step(String node, String plant, String mend) {}

    private final String what;
    private String cables;
    private final int nodes;
    private final List<String> codes;
    private final List<Step> steps = new ArrayList<>();
    private final Map<String, Map<String, Object>> pretended = new LinkedHashMap<>();
    private boolean rate;
    private boolean slow;

    private PlantedFault(String what, String cables, int nodes, List<String> codes) {
        this.what = what;
        this.cables = cables;
        this.nodes = nodes;
        this.codes = codes;
    }

    /** Of a node, whatever the others are: a alone is examined. */
    static PlantedFault ofNode(String what, String... codes) {
        return new PlantedFault(what, "", 1, List.of(codes));
    }

    /** Of two nodes, a and b. */
    static PlantedFault ofTwo(String what, String... codes) {
        return new PlantedFault(what, "", 2, List.of(codes));
    }

    /**
     * Of a cable.
     *
     * @param cables for example {@code ab} or {@code ab ac}, all that it touches
     */
    static PlantedFault ofCable(String cables, String what, String... codes) {
        return new PlantedFault(what, cables, cables.equals("ab") ? 2 : 3, List.of(codes));
    }

    /** Planted and mended by commands. */
    PlantedFault on(String node, String plant, String mend) {
        steps.add(new Step(node, plant, mend));
        return this;
    }

    /** Planted by a variable of the agent. */
    PlantedFault variable(String node, String name, String value) {
        return put(node, "environment", name, value);
    }

    /** Planted by a file of the agent's; without a leading slash. */
    PlantedFault file(String node, String name, String text) {
        return put(node, "files", name, text);
    }

    /** Planted by something else that the agent is told. */
    PlantedFault told(String node, String name, Object value) {
        pretended.computeIfAbsent(node, _ -> new LinkedHashMap<>()).put(name, value);
        return this;
    }

    /** A node's fault that also concerns these cables. */
    PlantedFault touching(String concerned) {
        cables = concerned;
        return this;
    }

    /** Another one of the same kind is quicker: it is left out, unless all are asked for. */
    PlantedFault slow() {
        slow = true;
        return this;
    }

    boolean isSlow() {
        return slow;
    }

    /** It takes measurements to find it. */
    PlantedFault measured() {
        rate = true;
        return this;
    }

    @SuppressWarnings("unchecked")
    private PlantedFault put(String node, String kind, String name, String value) {
        ((Map<String, Object>) pretended
                        .computeIfAbsent(node, _ -> new LinkedHashMap<>())
                        .computeIfAbsent(kind, _ -> new LinkedHashMap<String, Object>()))
                .put(name, value);
        return this;
    }

    void plant(FaultyNodes in) throws IOException {
        for (Step step : steps) {
            in.in(step.node(), step.plant());
        }
        for (Map.Entry<String, Map<String, Object>> each : pretended.entrySet()) {
            Map<String, Object> question = Json.object("do", "pretend");
            question.putAll(each.getValue());
            var _ = in.node(each.getKey()).ask(question);
        }
    }

    void mend(FaultyNodes in) throws IOException {
        for (Step step : steps.reversed()) {
            if (!step.mend().isEmpty()) {
                in.in(step.node(), step.mend());
            }
        }
        for (String node : pretended.keySet()) {
            var _ = in.node(node).ask(Json.object("do", "pretend"));
        }
    }

    /** How many nodes are examined, from a on. */
    int nodes() {
        return nodes;
    }

    /** Of the findings, one for each fault. */
    List<String> codes() {
        return codes;
    }

    boolean isMeasured() {
        return rate;
    }

    boolean isOfFirewall() {
        return steps.stream().anyMatch(step -> step.plant().startsWith("iptables"));
    }

    /** Whether neither touches what the other does. */
    boolean isApartFrom(PlantedFault other) {
        return Collections.disjoint(List.of(cables.split(" ", -1)), List.of(other.cables.split(" ", -1)))
                && Collections.disjoint(pretended.keySet(), other.pretended.keySet());
    }

    @Override
    public String toString() {
        return what;
    }

    /** What the first of these nodes show. */
    public static Observations examined(FaultyNodes in, int nodes, boolean rate) {
        return new Examination(in.nodes().subList(0, nodes), _ -> {}, rate).run();
    }

    /** Of the findings, but for the usual ones. */
    static Set<String> codes(List<Finding> findings, Set<String> usual) {
        return findings.stream()
                .map(Finding::code)
                .filter(code -> !usual.contains(code))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
