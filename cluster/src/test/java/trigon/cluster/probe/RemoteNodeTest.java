package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;

/** Nodes that a shell plays. */
@Timeout(120)
class RemoteNodeTest {

    private static final List<String> SHELL = List.of("sh", "-c");

    private static RemoteNode node(String script, Duration patience) throws IOException {
        return RemoteNode.start(SHELL, List.of(), script, patience);
    }

    @Test
    void nodesThatDoNotAnswerKeepNoOtherOneWaiting() throws Exception {
        int silent = Runtime.getRuntime().availableProcessors();
        List<RemoteNode> hung = new ArrayList<>();
        try (RemoteNode healthy =
                        node("while read -r question; do echo '{\"fine\": 1}'; done", Duration.ofSeconds(60));
                ExecutorService threads =
                        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory())) {
            List<Future<JsonObject>> asked = new ArrayList<>();
            for (int i = 0; i < silent; i++) {
                RemoteNode one = node("while read -r question; do :; done", Duration.ofSeconds(90));
                hung.add(one);
                asked.add(threads.submit(() -> one.ask(Json.object("do", "facts"))));
            }
            try {
                JsonObject answer = threads.submit(() -> healthy.ask(Json.object("do", "facts")))
                        .get(80, TimeUnit.SECONDS);

                assertThat(answer.whole("fine")).isEqualTo(1);
                assertThat(asked).noneMatch(Future::isDone);
            } finally {
                asked.forEach(each -> each.cancel(true));
            }
        } finally {
            for (RemoteNode each : hung) {
                each.close();
            }
        }
    }

    @Test
    void aNodeThatDoesNotAnswerIsSilent() throws Exception {
        try (RemoteNode hung = node("while read -r question; do :; done", Duration.ofMillis(200))) {
            assertThatThrownBy(() -> hung.ask(Json.object("do", "facts")))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("has not answered");
        }
    }
}
