package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.Observations.Heard;

/** Two nodes on two cables, one of which is slow to carry hellos. */
class ExaminationTest {

    private static final int HELLOS_UNHEARD = 4;

    private final AtomicInteger pauses = new AtomicInteger();

    private final class Node implements NodeConnection {
        private final String name;
        private final String peer;

        Node(String name, String peer) {
            this.name = name;
            this.peer = peer;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public JsonObject ask(Map<String, Object> question) {
            return JsonObject.parse(Json.line(
                    switch (String.valueOf(question.get("do"))) {
                        case "facts" -> facts();
                        case "clock" -> Json.object("clockMillis", 0);
                        case "listen" -> Json.object("opened", List.of());
                        case "heard" -> Json.object("heard", heard());
                        default -> Json.object();
                    }));
        }

        private Map<String, Object> facts() {
            String host = name.equals("a") ? ".1/24" : ".2/24";
            List<Map<String, Object>> interfaces = Stream.of(1, 2)
                    .map(cable -> Json.object(
                            "name", name + cable, "carrier", true, "addresses", List.of("10.77." + cable + host)))
                    .toList();
            List<Map<String, Object>> links = Stream.of(1, 2)
                    .map(cable -> Json.object("address", "10.77." + cable + host))
                    .toList();
            return Json.object("interfaces", interfaces, "links", links);
        }

        private List<Map<String, Object>> heard() {
            return Stream.of(1, 2)
                    .filter(cable -> cable == 1 || pauses.get() > HELLOS_UNHEARD)
                    .map(cable -> Json.object("on", name + cable, "node", peer, "interface", peer + cable))
                    .toList();
        }

        @Override
        public void close() {}
    }

    @Test
    void hellosGoOnUntilEachInterfaceHasHeardOne() {
        Observations seen = new Examination(
                        List.of(new Node("a", "b"), new Node("b", "a")), _ -> {}, false, pauses::incrementAndGet)
                .run();

        assertThat(seen.heard())
                .containsExactlyInAnyOrder(
                        new Heard("a", "a1", "b", "b1"),
                        new Heard("a", "a2", "b", "b2"),
                        new Heard("b", "b1", "a", "a1"),
                        new Heard("b", "b2", "a", "a2"));
    }
}
