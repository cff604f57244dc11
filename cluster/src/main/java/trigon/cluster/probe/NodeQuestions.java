package trigon.cluster.probe;

import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Asks several nodes at the same time, and shows whose answer is missing. One thread. */
final class NodeQuestions {

    /** An exchange with the agent of one node. */
    interface Question<T> {
        T ask(NodeConnection of) throws IOException;
    }

    private final Consumer<String> progress;

    NodeQuestions(Consumer<String> progress) {
        this.progress = progress;
    }

    /**
     * Waits for all answers. A node that does not answer is silent from then on, and is not asked again.
     *
     * @param what the nodes do, for somebody who waits
     * @param silent why nodes do not answer, by name; more may come
     * @return the answers by the nodes' names, in their order
     */
    <T> Map<String, T> ask(String what, List<NodeConnection> nodes, Question<T> question, Map<String, String> silent) {
        List<String> asked = nodes.stream()
                .map(NodeConnection::name)
                .filter(name -> !silent.containsKey(name))
                .toList();
        Map<String, Answer<T>> all = new HashMap<>();
        try (ExecutorService threads =
                Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory())) {
            CompletionService<Answer<T>> completed = new ExecutorCompletionService<>(threads);
            nodes.stream()
                    .filter(node -> asked.contains(node.name()))
                    .forEach(node -> completed.submit(() -> answer(node, question)));
            while (all.size() < asked.size()) {
                progress.accept(what + ": "
                        + asked.stream().filter(name -> !all.containsKey(name)).collect(Collectors.joining(", ")));
                Answer<T> answer = completed.take().get();
                all.put(answer.node(), answer);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e); // a defect: what nodes do is in their answers
        }
        Map<String, T> answers = new LinkedHashMap<>();
        for (String name : asked) {
            Answer<T> answer = all.getOrDefault(name, new Answer<>(name, Optional.empty(), "interrupted"));
            answer.value().ifPresentOrElse(value -> answers.put(name, value), () -> silent.put(name, answer.failure()));
        }
        return answers;
    }

    private record Answer<T>(String node, Optional<T> value, String failure) {}

    private static <T> Answer<T> answer(NodeConnection node, Question<T> question) {
        try {
            return new Answer<>(node.name(), Optional.of(question.ask(node)), "");
        } catch (IOException | RuntimeException e) {
            return new Answer<>(node.name(), Optional.empty(), String.valueOf(e.getMessage()));
        }
    }
}
