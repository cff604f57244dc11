package trigon.cluster.probe;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.facts.Transfer;
import trigon.cluster.json.JsonObject;

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

        /** The address at this end, of that link. */
        public String fromAddress() {
            return result.text("from");
        }

        public String toAddress() {
            return result.text("to");
        }

        /** What the kernel takes at this end to get there. */
        public String source() {
            return result.text("source");
        }

        /** The interface by which the kernel sends from this end to the other; empty where it does not say. */
        public String leavesBy() {
            return result.text("leavesBy");
        }

        /** The table of that route, and the rule that leads to it; empty where the kernel does not say. */
        public String route() {
            return result.text("route");
        }

        /** Whether the ends share no subnet. */
        public boolean isRouted() {
            return result.isTrue("routed");
        }

        /** Whether packets go through a gateway, as far as the kernel says. */
        public boolean hasGateway() {
            return result.isTrue("gateway");
        }

        /** {@code ok}, or what became of the connection. */
        public String tcp() {
            return result.text("tcp");
        }

        /** {@code right}, or what became of a transfer; empty if none was tried. */
        public String data() {
            return result.text("data");
        }

        /** {@code ok}, or what became of a datagram. */
        public String udp() {
            return result.text("udp");
        }

        /** The same at RoCE's port. */
        public String roceUdp() {
            return result.text("roceUdp");
        }

        /** The same at the announcements' port. */
        public String topologyUdp() {
            return result.text("topologyUdp");
        }

        /** The other end's hardware address, or why there is none; empty if nobody asked for it. */
        public String neighbour() {
            return result.text("neighbour");
        }

        public long datagrams() {
            return result.whole("datagrams");
        }

        public long datagramsLost() {
            return result.whole("datagramsLost");
        }

        public long leastRoundTripMicros() {
            return result.whole("leastRoundTripMicros");
        }

        public Optional<Long> roundTripMicros() {
            return result.number("roundTripMicros").map(Double::longValue);
        }

        /** The longest packet that arrives in one piece. */
        public Optional<Long> mtuArrives() {
            return result.number("mtuArrives").map(Double::longValue);
        }

        /** Of one TCP connection. */
        public Optional<Long> rateMbps() {
            return result.number("rateMbps").map(Double::longValue);
        }

        /** Of RDMA; empty if none was tried. */
        public Transfer transfer() {
            return new Transfer(result.object("rdma"));
        }

        /** Whether data arrive as they were sent, by all that the two ends have. */
        public boolean works() {
            return tcp().equals("ok") && data().equals("right") && (!hasRdma() || rdma().equals("right"));
        }

        /** Whether a transfer by RDMA was tried, too. */
        public boolean hasRdma() {
            return !rdma().isEmpty() && !rdma().equals("not tried");
        }

        /** How that has ended; empty if there was none. */
        public String rdma() {
            return transfer().outcome();
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
