package trigon.cluster.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.rdma.RdmaEnds;
import trigon.config.Settings;
import trigon.system.InterfaceAddress;
import trigon.system.PortRange;
import trigon.verbs.VerbsAvailability;

/**
 * A node's part of an examination. It does what it is asked, a JSON object in a line, and answers with another. What it
 * can be asked is to look and to send to addresses; it changes nothing. One thread asks.
 */
public final class Agent implements AutoCloseable {

    private static final int MAX_BYTES = 64 << 20;

    private final Machine machine;
    private final InstantSource clock;
    private final Supplier<VerbsAvailability> verbs;
    private final ProbeResponder responder = new ProbeResponder();
    private final RdmaEnds rdma;
    private @Nullable Hellos hellos;

    /** Answers for this machine, with its clock. */
    public Agent(Machine machine, InstantSource clock) {
        this(machine, clock, MachineLinks::libibverbs);
    }

    /** With other RDMA devices than the kernel's. */
    Agent(Machine machine, InstantSource clock, Supplier<VerbsAvailability> verbs) {
        this.machine = machine;
        this.clock = clock;
        this.verbs = verbs;
        this.rdma = new RdmaEnds(() -> MachineLinks.of(machine, verbs));
    }

    /** Answers until there are no more questions. */
    public void serve(BufferedReader questions, PrintStream answers) throws IOException {
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            if (!line.isBlank()) {
                answers.print(Json.line(answer(line)));
                answers.flush();
            }
        }
    }

    private Map<String, Object> answer(String line) {
        try {
            return answer(JsonObject.parse(line));
        } catch (IOException | RuntimeException e) {
            return Json.object("error", e.toString());
        }
    }

    public Map<String, Object> answer(JsonObject question) throws IOException {
        return switch (question.text("do")) {
            case "facts" -> Json.object(NodeFacts.of(machine, MachineLinks.of(machine, verbs)));
            case "clock" -> Json.object("clockMillis", clock.millis());
            case "listen" -> listen(question.texts("addresses"), (int) question.whole("topologyPort"));
            case "hello" -> {
                if (hellos != null) {
                    hellos.say(question.text("session"), question.text("node"));
                }
                yield Json.object("said", hellos != null);
            }
            case "heard" ->
                Json.object(
                        "heard",
                        hellos == null ? List.of() : hellos.heard(question.text("session"), question.text("node")));
            case "rdma" -> rdma.answer(question);
            case "paths" -> Json.object("paths", CandidatePaths.of(MachineLinks.of(machine, verbs), question));
            case "connect" -> Json.object("connected", connected(question.objects("paths")));
            case "probe" -> Json.object(Prober.probe(order(question)));
            default ->
                throw new IllegalArgumentException(
                        "unknown to this version of Trigon: " + question.text("do") + "; use one version on all nodes");
        };
    }

    private Map<String, Object> listen(List<String> addresses, int topologyPort) throws IOException {
        List<Map<String, Object>> opened = new ArrayList<>();
        PortRange range =
                MachineLinks.of(machine, verbs).config().value(Settings.PORTS).orElse(PortRange.ANY);
        for (String each : addresses) {
            try {
                ProbeResponder.Ports ports = responder.at(InterfaceAddress.parseAddress(each), range, topologyPort);
                opened.add(Json.object(
                        "address", each,
                        "tcp", ports.tcp(),
                        "udp", ports.udp(),
                        "roce", ports.roce(),
                        "topology", ports.topology()));
            } catch (IOException e) {
                opened.add(Json.object("address", each, "error", e.toString()));
            }
        }
        if (hellos != null) {
            hellos.close();
        }
        try {
            hellos = new Hellos();
        } catch (IOException | RuntimeException _) {
            hellos = null; // no IPv6 here: cables are not found by themselves
        }
        return Json.object("opened", opened);
    }

    /** Those of some paths over which a connection comes up; all are tried at the same time. */
    private static List<JsonObject> connected(List<JsonObject> paths) throws IOException {
        List<JsonObject> connected = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> results = paths.stream()
                    .map(path -> threads.submit(() -> Prober.connects(
                            InterfaceAddress.parseAddress(path.text("from")),
                            InterfaceAddress.parseAddress(path.text("to")),
                            (int) path.whole("tcp"))))
                    .toList();
            for (int i = 0; i < paths.size(); i++) {
                if (results.get(i).get()) {
                    connected.add(paths.get(i));
                }
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException("cannot try paths: " + e.getMessage(), e);
        }
        return connected;
    }

    private static Prober.Order order(JsonObject question) {
        InetAddress from = InterfaceAddress.parseAddress(question.text("from"));
        InetAddress to = InterfaceAddress.parseAddress(question.text("to"));
        return new Prober.Order(
                from,
                to,
                (int) question.whole("tcp"),
                (int) question.whole("udp"),
                question.isTrue("roce"),
                (int) question.whole("topology"),
                (int) question.whole("mtu"),
                Math.clamp(question.whole("bytes"), 1, MAX_BYTES),
                question.isTrue("rate"));
    }

    @Override
    public void close() throws IOException {
        rdma.close();
        responder.close();
        if (hellos != null) {
            hellos.close();
        }
    }
}
