package trigon.cluster.probe;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.LinkResult.Answer;
import trigon.cluster.probe.LinkResult.Connection;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.rdma.Transfer;
import trigon.cluster.rdma.Transfer.Written;

/**
 * Observations of an examination, without conclusions.
 *
 * @param facts of the nodes that answered, by name
 * @param silent why the others did not, by name
 * @param clocks of the nodes
 * @param heard hellos that arrived
 * @param probes of links, by direction
 * @param rate true if rates were measured
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

    public record Probe(String from, String to, LinkResult result) {

        /** The address at this end, of that link. */
        public String fromAddress() {
            return result.ends().from();
        }

        public String toAddress() {
            return result.ends().to();
        }

        public Connection tcp() {
            return result.stream().tcp();
        }

        /** Outcome of a transfer. */
        public Connection data() {
            return result.stream().data().orElse(Usual.NONE);
        }

        /** Tells whether a datagram was answered. */
        public boolean hasUdp() {
            return result.udpPackets().udp().filter(Answer.OK::equals).isPresent();
        }

        public String where() {
            return "%s %s to %s %s".formatted(from, fromAddress(), to, toAddress());
        }

        /** In Mbit/s, of a transfer by RDMA. */
        public Optional<Long> rdmaRate() {
            return result.rdma().flatMap(Transfer::seen).flatMap(Written::rateMbps);
        }

        /** Tells whether data arrive as they were sent, by all that the two ends have. */
        public boolean works() {
            return tcp() == Usual.OK && data() == Usual.RIGHT && (!hasRdma() || isRdmaRight());
        }

        /** Tells whether a transfer by RDMA was tried, too. */
        public boolean hasRdma() {
            return result.rdma()
                    .filter(each -> !(each instanceof Transfer.NotTried))
                    .isPresent();
        }

        public boolean isRdmaRight() {
            return result.rdma().filter(Transfer.Right.class::isInstance).isPresent();
        }
    }

    /** The facts of a node; without any if it has said nothing. */
    public NodeFacts node(String name) {
        return facts.getOrDefault(name, NodeFacts.NONE);
    }

    /** The interface of this end. */
    public Optional<Nic> nicOf(Probe probe) {
        return node(probe.from()).interfaceAt(probe.fromAddress());
    }

    public Observations {
        facts = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(facts));
        silent = Map.copyOf(silent);
        clocks = List.copyOf(clocks);
        heard = List.copyOf(heard);
        probes = List.copyOf(probes);
    }
}
