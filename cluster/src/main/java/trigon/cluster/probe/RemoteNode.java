package trigon.cluster.probe;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;

/** A node whose agent is started by a program such as ssh, and is asked by its standard streams. */
public final class RemoteNode implements NodeConnection {

    private static final int MAX_COMPLAINT = 400;

    private final String name;
    private final Duration patience;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter questions;
    private final StringBuilder complaints = new StringBuilder(); // guarded by itself

    private RemoteNode(String name, Duration patience, Process process) {
        this.name = name;
        this.patience = patience;
        this.process = process;
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.questions = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().name("trigon-complaints-" + name).daemon().start(this::listenToComplaints);
    }

    /**
     * Starts one.
     *
     * @param via the program and its options, such as {@code ssh -o BatchMode=yes}; the node's name follows it
     * @param remote the agent's command on the node
     * @param name of the node
     * @param patience for each answer, the first of which waits for the agent's start
     */
    public static RemoteNode start(List<String> via, List<String> remote, String name, Duration patience)
            throws IOException {
        List<String> command = new ArrayList<>(via);
        command.add(name);
        command.addAll(remote);
        return new RemoteNode(name, patience, new ProcessBuilder(command).start());
    }

    private void listenToComplaints() {
        try (BufferedReader lines = process.errorReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                synchronized (complaints) {
                    if (complaints.length() < MAX_COMPLAINT) {
                        complaints.append(complaints.isEmpty() ? "" : "; ").append(line);
                    }
                }
            }
        } catch (IOException _) {
            return; // it has ended
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public JsonObject ask(Map<String, Object> question) throws IOException {
        try {
            questions.write(Json.line(question));
            questions.flush();
        } catch (IOException e) {
            throw ended(e);
        }
        CompletableFuture<String> line = new CompletableFuture<>();
        // each waits by itself: in a pool, nodes that do not answer would keep the others waiting
        Thread.ofPlatform().name("trigon-answer-" + name).daemon().start(() -> line.complete(readLine()));
        String answer;
        try {
            answer = line.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            process.destroy();
            throw new IOException(name + " has not answered for " + patience.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw ended(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (answer.isEmpty()) {
            throw ended(null);
        }
        try {
            JsonObject object = JsonObject.parse(answer);
            if (object.find("error").isPresent()) {
                throw new IOException(name + ": " + object.text("error"));
            }
            return object;
        } catch (IllegalArgumentException e) {
            throw new IOException(name + " sent an unexpected answer: " + cut(answer), e);
        }
    }

    private static String cut(String text) {
        return text.length() > 100 ? text.substring(0, 100) + "..." : text;
    }

    private String readLine() {
        try {
            String line = answers.readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            return "";
        }
    }

    private IOException ended(@org.jspecify.annotations.Nullable Exception cause) {
        String status = "";
        try {
            if (process.waitFor(1, TimeUnit.SECONDS)) {
                status = " with exit status " + process.exitValue();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        String said;
        synchronized (complaints) {
            said = complaints.isEmpty() ? "" : ": " + complaints;
        }
        return new IOException("the agent on " + name + " has ended" + status + said, cause);
    }

    @Override
    public void close() throws IOException {
        try {
            questions.close();
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                process.destroy();
            }
        } catch (IOException _) {
            process.destroy(); // it has ended already
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
        }
    }
}
