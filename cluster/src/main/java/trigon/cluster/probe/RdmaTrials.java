package trigon.cluster.probe;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.Observations.Probe;
import trigon.cluster.rdma.Transfer;
import trigon.cluster.rdma.Transfer.Written;

/**
 * Has nodes transfer data over their RDMA links, in each direction by a queue pair of its own: it tells each end what
 * the other one has said, has one write and the other one check each byte. Of a node one transfer at a time. What came
 * of it is the probe's {@code rdma}.
 */
final class RdmaTrials {

    /** Some hundred packets; the last one is a short one. */
    private static final int BYTES = (384 << 10) + 13;

    /** By a gateway: 64 pieces at once, more than a host that forwards in software has room for. */
    private static final int BURST_BYTES = 64 * (64 << 10);

    private final Map<String, NodeConnection> nodes = new LinkedHashMap<>();
    private final Map<String, Lock> busy = new LinkedHashMap<>();
    private final Map<String, NodeFacts> facts;
    private final boolean rate;

    /**
     * Takes the nodes that answer.
     *
     * @param rate true if to measure how fast each link is; one after the other then
     */
    RdmaTrials(List<NodeConnection> nodes, Map<String, NodeFacts> facts, boolean rate) {
        for (NodeConnection each : nodes) {
            this.nodes.put(each.name(), each);
            this.busy.put(each.name(), new ReentrantLock());
        }
        this.facts = facts;
        this.rate = rate;
    }

    /** The device by which a node has RDMA at an address, if it has. */
    static Optional<String> device(NodeFacts facts, String address) {
        return facts.links().stream()
                .filter(link -> link.isRdma() && link.host().equals(address))
                .map(Link::device)
                .findFirst();
    }

    private Optional<String> device(String node, String address) {
        return device(facts.getOrDefault(node, NodeFacts.NONE), address);
    }

    /** Tells whether both ends have RDMA, and packets go over this link; other links have findings of their own. */
    private boolean isToBeTried(Probe probe) {
        return nodes.containsKey(probe.from())
                && nodes.containsKey(probe.to())
                && device(probe.from(), probe.fromAddress()).isPresent()
                && device(probe.to(), probe.toAddress()).isPresent()
                && probe.result().ends().source().equals(probe.fromAddress())
                && (!probe.result().ends().gateway() || (hasRoutedRdma(probe.from()) && hasRoutedRdma(probe.to())))
                && (probe.tcp() == Usual.OK || probe.hasUdp());
    }

    private boolean hasRoutedRdma(String node) {
        return facts.getOrDefault(node, NodeFacts.NONE).plugin().has("routes.rdma", "on");
    }

    /** The same probes, with what came of RDMA. */
    List<Probe> tried(List<Probe> probes) {
        List<Future<Probe>> tried = new ArrayList<>();
        try (ExecutorService threads = rate
                ? Executors.newSingleThreadExecutor()
                : Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory())) {
            probes.forEach(probe -> tried.add(threads.submit(() -> isToBeTried(probe) ? tried(probe) : probe)));
        }
        return tried.stream().map(Future::resultNow).toList();
    }

    private Probe tried(Probe probe) {
        boolean inOrder = probe.from().compareTo(probe.to()) < 0;
        Lock first = lock(inOrder ? probe.from() : probe.to());
        Lock second = lock(inOrder ? probe.to() : probe.from());
        first.lock();
        second.lock();
        try {
            return new Probe(probe.from(), probe.to(), probe.result().with(transfer(probe)));
        } finally {
            second.unlock();
            first.unlock();
        }
    }

    private Lock lock(String node) {
        return Objects.requireNonNull(busy.get(node));
    }

    private Transfer transfer(Probe probe) {
        String id = UUID.randomUUID().toString();
        boolean routed = probe.result().ends().gateway();
        End from = end(probe.from(), probe.fromAddress(), id, routed);
        End to = end(probe.to(), probe.toAddress(), id, routed);
        try {
            return transfer(from, to);
        } catch (IOException | RuntimeException e) { // of an agent in this process, its own failures, too
            return new Transfer.NotTried(String.valueOf(e.getMessage()));
        } finally {
            from.close();
            to.close();
        }
    }

    private End end(String node, String address, String id, boolean routed) {
        String device = device(node, address).orElse("");
        return new End(Objects.requireNonNull(nodes.get(node)), address, device, id, routed, rate);
    }

    private static Transfer transfer(End from, End to) throws IOException {
        JsonObject here = from.open();
        JsonObject there = to.open();
        Transfer.Ends ends =
                new Transfer.Ends(Optional.of(here.as(Transfer.End.class)), Optional.of(there.as(Transfer.End.class)));
        Optional<Transfer> failed = from.failed(here, ends).or(() -> to.failed(there, ends));
        for (End each : List.of(to, from)) {
            for (String step : List.of("INIT to READY_TO_RECEIVE", "READY_TO_RECEIVE to READY_TO_SEND")) {
                if (failed.isEmpty()) {
                    failed = each.failed(each.ask(step, each.equals(to) ? here : there), ends);
                }
            }
        }
        if (failed.isPresent()) {
            return failed.get();
        }
        Written written = from.ask("write", there).as(Written.class);
        return switch (written.status()) {
            case "SUCCESS" -> checked(to.ask("check", here), ends, written);
            case "RETRY_EXCEEDED", "RESPONSE_TIMEOUT", Written.NO_COMPLETION ->
                new Transfer.NoAcknowledgement(ends, written);
            default -> new Transfer.Failed(ends, written);
        };
    }

    private static Transfer checked(JsonObject checked, Transfer.Ends ends, Written written) {
        return checked.number("wrong").filter(wrong -> wrong == 0).isPresent()
                ? new Transfer.Right(ends, written)
                : new Transfer.Wrong(ends, written, checked.whole("wrong"), checked.whole("first"));
    }

    /** One of both, as it is asked. */
    private record End(NodeConnection node, String address, String device, String id, boolean routed, boolean rate) {

        JsonObject open() throws IOException {
            Map<String, Object> question = question("open");
            question.put("address", address);
            question.put("device", device);
            question.put("bytes", routed ? BURST_BYTES : BYTES);
            question.put("seed", id.hashCode());
            return node.ask(question);
        }

        JsonObject ask(String step, JsonObject peer) throws IOException {
            Map<String, Object> question = question(step);
            question.put("peer", peer.values());
            question.put("rate", rate);
            question.put("burst", routed);
            return node.ask(question);
        }

        private Map<String, Object> question(String step) {
            return Json.object("do", "rdma", "step", step, "id", id, "expected", id.hashCode());
        }

        Optional<Transfer> failed(JsonObject answer, Transfer.Ends ends) {
            return answer.find("failed")
                    .map(_ -> new Transfer.NotUp(ends, node.name(), answer.as(Transfer.FailedStep.class)));
        }

        void close() {
            try {
                var _ = node.ask(question("close"));
            } catch (IOException | RuntimeException _) {
                // it has ended, or let it go already
            }
        }
    }
}
