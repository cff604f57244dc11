package trigon.cluster.probe;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.Observations.Clock;
import trigon.cluster.probe.Observations.Heard;
import trigon.cluster.probe.Observations.Probe;
import trigon.system.InterfaceAddress;

/**
 * Has all nodes look at themselves, say hello on each interface, and try each link to each other node, in both
 * directions. All nodes work at the same time; of a node one thing at a time, so that measurements do not disturb each
 * other.
 */
public final class Examination {

    private static final String HELLO = "finding out which cable goes where";

    private static final int HELLOS = 3;

    /** For the address of an interface that has just come up: some 2 s. */
    private static final int MAX_WAITS = 20;

    /** Paths along the kernel's routes that a node tries to connect over, all at the same time. */
    private static final int MAX_ROUTED = 256;

    private static final int MAX_HELLOS = 8;
    private static final long HELLO_MILLIS = 120;
    private static final int BYTES = 256 << 10;
    private static final int BYTES_FOR_RATE = 4 << 20;

    private final List<NodeConnection> nodes;
    private final Consumer<String> progress;
    private final NodeQuestions questions;
    private final boolean rate;
    private final Runnable pause;

    /**
     * Takes the nodes, none of which is asked yet.
     *
     * @param progress takes what the nodes do, for somebody who waits
     * @param rate true if to measure how fast each link is
     */
    public Examination(List<NodeConnection> nodes, Consumer<String> progress, boolean rate) {
        this(nodes, progress, rate, Examination::sleep);
    }

    /** With another wait between hellos and the question what was heard of them. */
    Examination(List<NodeConnection> nodes, Consumer<String> progress, boolean rate, Runnable pause) {
        this.nodes = List.copyOf(nodes);
        this.progress = progress;
        this.questions = new NodeQuestions(progress);
        this.rate = rate;
        this.pause = pause;
    }

    /** Asks all nodes, and waits for what they see; a node that does not answer is an observation as well. */
    public Observations run() {
        Map<String, String> silent = new TreeMap<>();
        Map<String, NodeFacts> facts = new LinkedHashMap<>();
        List<Clock> clocks = new ArrayList<>();
        questions.ask("asking what there is", nodes, this::facts, silent).forEach((name, answer) -> {
            facts.put(name, answer.facts());
            clocks.add(answer.clock());
        });
        List<NodeConnection> there =
                nodes.stream().filter(node -> facts.containsKey(node.name())).toList();
        List<Probe> probes = new ArrayList<>();
        List<Heard> heard = new ArrayList<>();
        if (there.size() > 1) {
            Map<String, JsonObject> ports =
                    questions.ask("opening ports", there, node -> node.ask(listen(of(facts, node))), silent);
            heard.addAll(hello(there, facts, silent));
            Map<String, List<Trial>> trials = trials(there, facts, ports, silent);
            probes.addAll(withoutListener(there, facts, ports));
            if (rate) { // one at a time: a link that two use is half as fast
                for (NodeConnection node : there) {
                    questions
                            .ask("measuring each link", List.of(node), each -> probe(each, trials), silent)
                            .values()
                            .forEach(probes::addAll);
                }
            } else {
                questions
                        .ask("trying each link", there, node -> probe(node, trials), silent)
                        .values()
                        .forEach(probes::addAll);
            }
            progress.accept("transferring by RDMA, where both ends have it");
            probes = new RdmaTrials(answering(there, silent), facts, rate).tried(probes);
            questions
                    .ask("reading counters", there, Examination::ask, silent)
                    .forEach(
                            (name, after) -> facts.computeIfPresent(name, (_, before) -> before.withCountersOf(after)));
        }
        return new Observations(facts, silent, clocks, heard, probes, rate);
    }

    private static List<NodeConnection> answering(List<NodeConnection> all, Map<String, String> silent) {
        return all.stream().filter(node -> !silent.containsKey(node.name())).toList();
    }

    private record Answer(NodeFacts facts, Clock clock) {}

    /** A probe from one node to another, between these addresses. */
    private record Trial(String to, Map<String, Object> question, boolean routed) {}

    private Answer facts(NodeConnection node) throws IOException {
        NodeFacts facts = ask(node);
        for (int i = 0; i < MAX_WAITS && isComingUp(facts); i++) {
            pause.run();
            facts = ask(node);
        }
        long before = System.currentTimeMillis();
        long there = node.ask(Json.object("do", "clock")).whole("clockMillis");
        long after = System.currentTimeMillis();
        return new Answer(facts, new Clock(node.name(), there - (before + after) / 2, (after - before) / 2));
    }

    private static NodeFacts ask(NodeConnection node) throws IOException {
        return said(node, Json.object("do", "facts"), NodeFacts.class);
    }

    private static <T extends Record> T said(NodeConnection node, Map<String, Object> question, Class<T> type)
            throws IOException {
        JsonObject answer = node.ask(question);
        try {
            return answer.as(type);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "%s answers in another form, %s: install one version of Trigon on all nodes"
                            .formatted(node.name(), e.getMessage()),
                    e);
        }
    }

    /** Tells whether an interface has come up just now: the kernel gives it a link-local address a moment later. */
    private static boolean isComingUp(NodeFacts facts) {
        return facts.interfaces().stream()
                .anyMatch(nic -> nic.hasCarrier()
                        && nic.state().equals("up")
                        && (nic.addresses().isEmpty()
                                || !nic.addressesIn("tentative").isEmpty())
                        && !facts.isInner(nic.name()));
    }

    private static Map<String, Object> listen(NodeFacts facts) {
        return Json.object(
                "do", "listen",
                "addresses",
                        linkAddresses(facts)
                                .map(address -> InterfaceAddress.text(address.address()))
                                .toList(),
                "topologyPort", facts.plugin().topologyPort());
    }

    /**
     * Addresses of the links that would be used, each once. Link-local ones say nothing of which end is at the same
     * cable. The loopback leads to no other machine, unless a file lists it.
     */
    private static Stream<InterfaceAddress> linkAddresses(NodeFacts facts) {
        return facts.links().stream()
                .map(Link::address)
                .filter(address -> !address.isLinkLocal())
                .filter(address -> !address.address().isLoopbackAddress() || facts.isListed())
                .distinct();
    }

    /** Addresses at cables: not those of bridges of containers, which are links where there is nothing else. */
    private static List<InterfaceAddress> addresses(NodeFacts facts) {
        return linkAddresses(facts)
                .filter(address -> facts.interfaceOf(address.address())
                        .filter(nic -> facts.isInner(nic.name()))
                        .isEmpty())
                .toList();
    }

    private List<Heard> hello(List<NodeConnection> there, Map<String, NodeFacts> facts, Map<String, String> silent) {
        String session = UUID.randomUUID().toString();
        List<Heard> heard = new ArrayList<>();
        int unchanged = 0;
        for (int i = 0; i < MAX_HELLOS && (i < HELLOS || unchanged < 1 || !isComplete(facts, heard)); i++) {
            questions.ask(
                    HELLO,
                    there,
                    node -> node.ask(Json.object("do", "hello", "session", session, "node", node.name())),
                    silent);
            pause.run();
            List<Heard> now = heard(there, session, silent);
            unchanged = now.size() == heard.size() ? unchanged + 1 : 0;
            heard = now;
        }
        return heard;
    }

    /**
     * Tells whether each interface of a link has heard another, and was heard by it. A busy node may take its time;
     * without IPv6, or at a cable to elsewhere, nothing is ever heard.
     */
    private static boolean isComplete(Map<String, NodeFacts> facts, List<Heard> heard) {
        return facts.entrySet().stream()
                        .allMatch(node -> addresses(node.getValue()).stream()
                                .filter(each -> !each.address().isLoopbackAddress())
                                .flatMap(each -> node.getValue().interfaceOf(each.address()).stream())
                                .filter(nic -> !nic.lacksCarrier())
                                .allMatch(nic -> heard.stream()
                                        .anyMatch(each -> each.by().equals(node.getKey())
                                                && each.on().equals(nic.name()))))
                && heard.stream()
                        .allMatch(each -> heard.contains(new Heard(each.node(), each.from(), each.by(), each.on())));
    }

    private List<Heard> heard(List<NodeConnection> there, String session, Map<String, String> silent) {
        List<Heard> heard = new ArrayList<>();
        questions
                .ask(
                        HELLO,
                        there,
                        node -> node.ask(Json.object("do", "heard", "session", session, "node", node.name())),
                        silent)
                .forEach((name, answer) -> answer.objects("heard")
                        .forEach(each -> heard.add(
                                new Heard(name, each.text("on"), each.text("node"), each.text("interface")))));
        return heard;
    }

    private static void sleep() {
        try {
            Thread.sleep(HELLO_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * The paths that the plugin would try, of each node. Those along the kernel's routes may lead nowhere, as by the
     * default one: only those over which a connection comes up are tried further.
     */
    private Map<String, List<Trial>> trials(
            List<NodeConnection> all,
            Map<String, NodeFacts> facts,
            Map<String, JsonObject> ports,
            Map<String, String> silent) {
        return new TreeMap<>(questions.ask("asking for paths", all, from -> trials(from, facts, ports), silent));
    }

    private List<Trial> trials(NodeConnection from, Map<String, NodeFacts> facts, Map<String, JsonObject> ports)
            throws IOException {
        NodeFacts own = of(facts, from);
        List<Trial> trials = new ArrayList<>();
        List<Trial> routed = new ArrayList<>();
        for (Map.Entry<String, JsonObject> to : ports.entrySet()) {
            NodeFacts peer = facts.getOrDefault(to.getKey(), NodeFacts.NONE);
            if (to.getKey().equals(from.name())) {
                continue;
            }
            Map<String, JsonObject> opened = new LinkedHashMap<>();
            to.getValue().objects("opened").forEach(each -> opened.put(each.text("address"), each));
            JsonObject answer = from.ask(CandidatePaths.question(peer, List.copyOf(opened.values())));
            for (JsonObject path : answer.objects("paths")) {
                InterfaceAddress here = hostAddress(path.text("from"));
                JsonObject there = opened.get(path.text("to"));
                if (there != null && !here.isLinkLocal()) {
                    Trial trial = new Trial(to.getKey(), question(own, peer, here, there), path.isTrue("routed"));
                    (trial.routed() ? routed : trials).add(trial);
                }
            }
        }
        trials.addAll(connecting(from, routed));
        return trials;
    }

    private static List<Trial> connecting(NodeConnection from, List<Trial> routed) throws IOException {
        if (routed.isEmpty()) {
            return List.of();
        }
        List<Map<String, Object>> asked =
                routed.stream().limit(MAX_ROUTED).map(Trial::question).toList();
        List<JsonObject> connected =
                from.ask(Json.object("do", "connect", "paths", asked)).objects("connected");
        return routed.stream()
                .filter(trial -> connected.stream()
                        .anyMatch(each -> each.text("from")
                                        .equals(trial.question().get("from"))
                                && each.text("to").equals(trial.question().get("to"))))
                .toList();
    }

    private static InterfaceAddress hostAddress(String text) {
        InetAddress address = InterfaceAddress.parseAddress(text);
        return new InterfaceAddress(address, address.getAddress().length * Byte.SIZE);
    }

    /** The address was there when the node was asked for its facts. */
    private static List<Probe> withoutListener(
            List<NodeConnection> all, Map<String, NodeFacts> facts, Map<String, JsonObject> ports) {
        List<Probe> failed = new ArrayList<>();
        ports.forEach((to, there) -> there.objects("opened").stream()
                .filter(each -> each.find("error").isPresent())
                .map(each -> each.text("address"))
                .forEach(address -> all.stream()
                        .filter(from -> !from.name().equals(to))
                        .forEach(from -> addresses(of(facts, from)).stream()
                                .filter(here -> here.contains(InterfaceAddress.parseAddress(address)))
                                .map(here -> InterfaceAddress.text(here.address()))
                                .forEach(here -> failed.add(new Probe(from.name(), to, untried(here, address)))))));
        return failed;
    }

    private static LinkResult untried(String here, String there) {
        return new LinkResult(
                new LinkResult.Ends(here, there, here, false, "", ""),
                false,
                new LinkResult.Stream(
                        Usual.NO_LISTENER, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                LinkResult.Datagrams.NONE,
                Optional.empty(),
                Optional.empty());
    }

    private Map<String, Object> question(NodeFacts own, NodeFacts peer, InterfaceAddress here, JsonObject opened) {
        String from = InterfaceAddress.text(here.address());
        String to = opened.text("address");
        // an RDMA NIC takes what comes at RoCE's port itself, and a transfer by RDMA says more
        boolean isRdma = RdmaTrials.device(own, from).isPresent()
                || RdmaTrials.device(peer, to).isPresent();
        return Json.object(
                "do",
                "probe",
                "from",
                from,
                "to",
                to,
                "tcp",
                opened.whole("tcp"),
                "udp",
                opened.whole("udp"),
                "roce",
                opened.isTrue("roce") && !isRdma,
                "topology",
                opened.whole("topology"),
                "mtu",
                own.interfaceOf(here.address()).map(Nic::mtu).orElse(1500),
                "bytes",
                rate ? BYTES_FOR_RATE : BYTES,
                "rate",
                rate);
    }

    private static List<Probe> probe(NodeConnection node, Map<String, List<Trial>> trials) throws IOException {
        List<Probe> probes = new ArrayList<>();
        for (Trial trial : trials.getOrDefault(node.name(), List.of())) {
            LinkResult result = said(node, trial.question(), LinkResult.class);
            probes.add(new Probe(node.name(), trial.to(), trial.routed() ? result.asRouted() : result));
        }
        return probes;
    }

    private static NodeFacts of(Map<String, NodeFacts> facts, NodeConnection node) {
        return facts.getOrDefault(node.name(), NodeFacts.NONE);
    }
}
