package trigon.tools.probe;

import java.util.List;
import java.util.Map;
import trigon.tools.console.JsonObject;
import trigon.tools.facts.NodeFacts;

/**
 * What an examination has found, before anybody thinks about it.
 *
 * @param facts of the nodes that answered, by name
 * @param silent why the others did not, by name
 * @param clocks of the nodes
 * @param heard who heard whom on which interfaces
 * @param probes of links, by direction
 * @param rate whether rates were measured
 */
public record Observations(
        Map<String, NodeFacts> facts,
        Map<String, String> silent,
        List<Clock> clocks,
        List<Heard> heard,
        List<Probe> probes,
        boolean rate) {

    /**
     * A node's clock.
     *
     * @param aheadMillis of this machine's
     * @param uncertainMillis by how much that may be wrong
     */
    public record Clock(String node, long aheadMillis, long uncertainMillis) {}

    /** A node has heard another, on an interface of its own, from one of the other's. */
    public record Heard(String by, String on, String node, String from) {}

    /** A link was tried. */
    public record Probe(String from, String to, JsonObject result) {

        /** Whether data arrive as they were sent, by all that the two ends have. */
        public boolean works() {
            return result.text("tcp").equals("ok")
                    && result.text("data").equals("right")
                    && (!hasRdma() || rdma().equals("right"));
        }

        /** Whether a transfer by RDMA was tried, too. */
        public boolean hasRdma() {
            return !rdma().isEmpty() && !rdma().equals("not tried");
        }

        /** How that has ended; empty if there was none. */
        public String rdma() {
            return result.object("rdma").text("outcome");
        }
    }

    public Observations {
        facts = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(facts));
        silent = Map.copyOf(silent);
        clocks = List.copyOf(clocks);
        heard = List.copyOf(heard);
        probes = List.copyOf(probes);
    }
}
