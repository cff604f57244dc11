package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations.Probe;
import trigon.verbs.VerbsAvailability;

/** Transfers between two agents whose RDMA devices are software; and what is found when something is wrong. */
@Timeout(120)
class RdmaTrialsTest {

    private static final String LOOPBACK = "127.0.0.1";

    @TempDir
    private Path folder;

    private PretendedRdma devices = PretendedRdma.ofThisMachine(true, false);
    private final List<Node> nodes = new ArrayList<>();

    /** An agent in this JVM; what it is asked, and what it says, can be changed. */
    static class Node implements NodeConnection {
        private final String name;
        private final Agent agent;

        Node(String name, Agent agent) {
            this.name = name;
            this.agent = agent;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public JsonObject ask(Map<String, Object> question) throws IOException {
            JsonObject asked = JsonObject.parse(Json.line(changed(new LinkedHashMap<>(question))));
            return JsonObject.parse(Json.line(said(asked, new LinkedHashMap<>(agent.answer(asked)))));
        }

        Map<String, Object> changed(Map<String, Object> question) throws IOException {
            return question;
        }

        Map<String, Object> said(JsonObject question, Map<String, Object> answer) throws IOException {
            return answer;
        }

        @Override
        public void close() throws IOException {
            agent.close();
        }
    }

    private Agent agent(String name) throws IOException {
        Path file = Files.writeString(folder.resolve("trigon.yaml"), """
            version: 1
            links: rdma
            nodes:
              a: {nics: [{address: 127.0.0.1/8}]}
              b: {nics: [{address: 127.0.0.1/8}]}
            """);
        return agent(name, Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", name));
    }

    private Agent withRoutedRdma(String name) {
        return agent(name, Map.of("TRIGON_ROUTES_RDMA", "on"));
    }

    private Agent agent(String name, Map<String, String> environment) {
        return new Agent(
                new Machine(Path.of("/"), environment, name, "1.0", Optional.empty()),
                InstantSource.system(),
                () -> new VerbsAvailability.Available(devices));
    }

    @BeforeEach
    void start() throws IOException {
        nodes.add(new Node("a", agent("a")));
    }

    @AfterEach
    void nothingIsLeftOpen() throws IOException {
        assertThat(devices.ledger().outstanding()).isEmpty();
        for (Node each : nodes) {
            each.close();
        }
        devices.close();
    }

    /** From a to b, and from b to a. */
    private List<Probe> tried(Node b, boolean rate) throws IOException {
        return tried(b, rate, false);
    }

    private List<Probe> tried(Node b, boolean rate, boolean gateway) throws IOException {
        nodes.add(b);
        Map<String, NodeFacts> facts = new LinkedHashMap<>();
        for (Node each : nodes) {
            facts.put(each.name(), each.ask(Json.object("do", "facts")).as(NodeFacts.class));
        }
        List<Probe> probes = new ArrayList<>();
        for (List<String> ends : List.of(List.of("a", "b"), List.of("b", "a"))) {
            Map<String, Object> probe = Json.object("from", LOOPBACK, "to", LOOPBACK, "source", LOOPBACK, "tcp", "ok");
            probe.put("data", "right");
            probe.put("udp", "ok");
            if (gateway) {
                probe.put("gateway", true);
            }
            probes.add(new Probe(ends.getFirst(), ends.getLast(), new JsonObject(probe).as(LinkResult.class)));
        }
        return new RdmaTrials(List.copyOf(nodes), facts, rate).tried(probes);
    }

    private static JsonObject rdma(Probe probe) {
        return JsonObject.parse(Json.line(probe.result())).object("rdma");
    }

    private static Finding found(List<Probe> tried, String code) {
        List<Finding> findings = Diagnosis.of(new Observations(Map.of(), Map.of(), List.of(), List.of(), tried, false));
        Set<String> codes = findings.stream().map(Finding::code).collect(Collectors.toCollection(TreeSet::new));
        assertThat(codes).as(() -> tried.toString()).containsExactly(code);
        return findings.getFirst();
    }

    @Test
    void eachByteArrivesInBothDirections() throws IOException {
        List<Probe> tried = tried(new Node("b", agent("b")), false);

        assertThat(tried).hasSize(2).allSatisfy(probe -> {
            assertThat(rdma(probe).text("outcome")).as(probe.toString()).isEqualTo("right");
            assertThat(rdma(probe).whole("bytes")).isEqualTo((384 << 10) + 13);
            assertThat(rdma(probe).whole("pathMtu")).isBetween(256L, 4096L);
            assertThat(rdma(probe).object("to").text("gidType")).isEqualTo("RoCE v2");
            assertThat(rdma(probe).number("rateMbps")).isEmpty();
        });
        assertThat(Diagnosis.of(new Observations(Map.of(), Map.of(), List.of(), List.of(), tried, false)))
                .isEmpty();
    }

    @Test
    void aGatewayIsTriedByABurstWhereBothNodesAskForRdma() throws IOException {
        nodes.removeFirst().close();
        nodes.add(new Node("a", withRoutedRdma("a")));

        assertThat(tried(new Node("b", withRoutedRdma("b")), false, true)).allSatisfy(probe -> {
            assertThat(rdma(probe).text("outcome")).as(probe.toString()).isEqualTo("right");
            assertThat(rdma(probe).whole("bytes")).isEqualTo(64 * (64 << 10));
            assertThat(rdma(probe).whole("burstMbps")).isPositive();
        });
    }

    @Test
    void aGatewayIsNotTriedUnlessBothNodesAskForRdma() throws IOException {
        assertThat(tried(new Node("b", withRoutedRdma("b")), false, true))
                .allSatisfy(probe -> assertThat(probe.hasRdma()).isFalse());
    }

    @Test
    void theRateIsMeasuredWhereItIsAskedFor() throws IOException {
        assertThat(tried(new Node("b", agent("b")), true))
                .allSatisfy(probe -> assertThat(rdma(probe).whole("rateMbps")).isPositive());
    }

    @Test
    void anAddressThatIsNotReachedIsFound() throws IOException {
        Node b = new Node("b", agent("b")) {
            @Override
            Map<String, Object> said(JsonObject question, Map<String, Object> answer) {
                answer.computeIfPresent("gid", (_, _) -> "00000000000000000000ffffc0000201");
                return answer;
            }
        };
        List<Probe> tried = tried(b, false);

        Finding finding = found(tried, "rdma-not-up");

        assertThat(rdma(tried.getFirst()).text("outcome")).isEqualTo("not up");
        assertThat(finding.what()).contains("of a on rdma_lo does not come up: INIT to READY_TO_RECEIVE fails with E");
        assertThat(finding.evidence()).contains("rdma_lo GID 0 RoCE v2 ::ffff:127.0.0.1 to rdma_lo GID 0 RoCE v2");
    }

    @Test
    void aPeerThatAcknowledgesNothingIsFound() throws IOException {
        Agent silent = agent("b");
        Node b = new Node("b", silent) {
            @Override
            Map<String, Object> said(JsonObject question, Map<String, Object> answer) throws IOException {
                if (question.text("step").startsWith("READY_TO_RECEIVE")) {
                    Map<String, Object> close = new LinkedHashMap<>(question.values());
                    close.put("step", "close");
                    assertThat(silent.answer(new JsonObject(close))).containsEntry("closed", true);
                }
                return answer;
            }
        };
        List<Probe> tried = tried(b, false);

        Finding finding = found(tried.subList(0, 1), "rdma-no-acknowledgement");

        assertThat(rdma(tried.getFirst()).text("outcome")).isEqualTo("no acknowledgement");
        assertThat(finding.evidence()).startsWith("RETRY_EXCEEDED after 0 bytes, in pieces of ");
    }

    @Test
    void aWrongKeyIsFound() throws IOException {
        Node b = new Node("b", agent("b")) {
            @Override
            Map<String, Object> said(JsonObject question, Map<String, Object> answer) {
                answer.computeIfPresent("key", (_, _) -> "7fffffff");
                return answer;
            }
        };

        Finding finding = found(tried(b, false).subList(0, 1), "rdma-write-failed");

        assertThat(finding.evidence()).startsWith("REMOTE_ACCESS_ERROR after 0 bytes; ");
    }

    @Test
    void changedBytesAreFound() throws IOException {
        devices.close();
        devices = PretendedRdma.ofThisMachine(true, true);
        List<Probe> tried = tried(new Node("b", agent("b")), false);

        Finding finding = found(tried, "rdma-data-wrong");

        long piece = rdma(tried.getFirst()).whole("pathMtu");
        assertThat(rdma(tried.getFirst()).whole("firstWrong")).isBetween(7 * piece, 8 * piece);
        assertThat(rdma(tried.getFirst()).whole("wrong")).isBetween(1L, piece);
        assertThat(finding.evidence()).contains(" of the bytes differ, the first at ");
    }

    @Test
    void anAddressThatIsThereNoMoreIsFound() throws IOException {
        Node b = new Node("b", agent("b")) {
            @Override
            Map<String, Object> changed(Map<String, Object> question) {
                question.computeIfPresent("device", (_, _) -> "mlx5_9");
                return question;
            }
        };

        assertThat(found(tried(b, false), "rdma-not-up").what()).isEqualTo("no queue pair can be created on b");
    }

    @Test
    void anAgentThatDoesNotKnowOfItIsNoFault() throws IOException {
        Node b = new Node("b", agent("b")) {
            @Override
            Map<String, Object> changed(Map<String, Object> question) throws IOException {
                if (question.containsValue("rdma")) {
                    throw new IOException("unknown to this version of Trigon: rdma");
                }
                return question;
            }
        };
        List<Probe> tried = tried(b, false);

        assertThat(rdma(tried.getFirst()).text("outcome")).isEqualTo("not tried");
        assertThat(Diagnosis.of(new Observations(Map.of(), Map.of(), List.of(), List.of(), tried, false)))
                .isEmpty();
    }
}
