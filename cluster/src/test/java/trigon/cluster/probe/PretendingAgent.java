package trigon.cluster.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.verbs.VerbsAvailability;

/**
 * The agent of a node that can be told to have other variables, files, RDMA devices, another version or another clock
 * than this machine. Everything else is the real agent's, as a process of its own.
 */
final class PretendingAgent {

    private final Path roots;
    private final Set<String> unset = new HashSet<>();
    private JsonObject told = JsonObject.parse("{}");
    private Agent agent;
    private Path root = Path.of("/");
    private String rising = "";
    private String rdma = "";
    private @Nullable PretendedRdma devices;
    private long risen;

    private PretendingAgent(Path roots) {
        this.roots = roots;
        this.agent = agent(told);
    }

    public static void main(String[] arguments) throws IOException {
        Path roots = Files.createTempDirectory("trigon-pretended");
        try (BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            PretendingAgent agent = new PretendingAgent(roots);
            for (String line = questions.readLine(); line != null; line = questions.readLine()) {
                System.out.print(Json.line(agent.answer(line)));
                System.out.flush();
            }
        } finally {
            delete(roots);
        }
    }

    private Map<String, Object> answer(String line) {
        try {
            JsonObject question = JsonObject.parse(line);
            if (question.text("do").equals("pretend")) {
                unset.clear();
                told = question;
                agent.close();
                agent = agent(question);
                return Json.object("pid", ProcessHandle.current().pid());
            }
            if (question.text("do").equals("unset")) {
                unset.add(question.text("name"));
                agent.close();
                agent = agent(told);
                return Json.object();
            }
            if (question.text("do").equals("pid")) {
                return Json.object("pid", ProcessHandle.current().pid());
            }
            if (question.text("do").equals("facts") && !rising.isEmpty()) {
                Files.writeString(root.resolve(rising), ++risen + "\n");
            }
            if (question.text("do").equals("rdma") && !rdma.isEmpty()) {
                return pretended(question);
            }
            return agent.answer(question);
        } catch (IOException | RuntimeException e) {
            return Json.object("error", e.toString());
        }
    }

    /** What is wrong with its RDMA: its address, its key, or it is gone as soon as its peer writes. */
    private Map<String, Object> pretended(JsonObject question) throws IOException {
        Map<String, Object> answer = agent.answer(question);
        if (rdma.equals("elsewhere")) {
            answer.computeIfPresent("gid", (_, _) -> "00000000000000000000ffffc0000201");
        } else if (rdma.equals("key")) {
            answer.computeIfPresent("key", (_, _) -> "7fffffff");
        } else if (rdma.equals("silent") && question.text("step").equals("READY_TO_RECEIVE to READY_TO_SEND")) {
            Map<String, Object> close = new HashMap<>(question.values());
            close.put("step", "close");
            var _ = agent.answer(new JsonObject(close));
        }
        return answer;
    }

    /** RDMA devices, if it is to have some. */
    private VerbsAvailability verbs() {
        if (rdma.isEmpty()) {
            return MachineLinks.libibverbs();
        }
        if (devices == null) {
            devices = PretendedRdma.ofThisMachine(false, rdma.equals("changing"));
        }
        return new VerbsAvailability.Available(devices);
    }

    private Agent agent(JsonObject pretended) {
        if (devices != null) {
            devices.close();
            devices = null;
        }
        rdma = pretended.text("rdma");
        Map<String, String> environment = new HashMap<>(System.getenv());
        pretended.object("environment").values().forEach((name, value) -> environment.put(name, String.valueOf(value)));
        environment.keySet().removeAll(unset);
        Map<String, Object> files = pretended.object("files").values();
        rising = pretended.text("rising");
        try {
            if (unset.isEmpty()) { // else its files are what commands have made of them
                root = files.isEmpty() ? Path.of("/") : root(files);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        if (pretended.find("cluster").isPresent()) {
            environment.put(
                    "TRIGON_CONFIG", root.resolve(pretended.text("cluster")).toString());
            environment.put("TRIGON_NODE", pretended.text("node"));
        }
        String version = pretended.find("version").isPresent() ? pretended.text("version") : "1.0";
        return new Agent(
                new Machine(root, environment, "localhost", version, Optional.empty()),
                Clock.offset(Clock.systemUTC(), Duration.ofMillis(pretended.whole("aheadMillis"))),
                this::verbs);
    }

    /** This machine's files, as links to them, but for some. */
    private Path root(Map<String, Object> files) throws IOException {
        Path made = Files.createTempDirectory(roots, "root");
        link(Path.of("/"), made, List.copyOf(files.keySet()));
        for (Map.Entry<String, Object> each : files.entrySet()) {
            Path file = made.resolve(each.getKey());
            String text = String.valueOf(each.getValue());
            Files.createDirectories(file.getParent());
            if (text.startsWith("-> ")) {
                Files.createSymbolicLink(file, Files.createDirectories(made.resolve(text.substring(3))));
            } else {
                Files.writeString(file, text + "\n");
            }
        }
        return made;
    }

    private static void link(Path real, Path made, List<String> others) throws IOException {
        Files.createDirectories(made);
        try (Stream<Path> entries = Files.isDirectory(real) ? Files.list(real) : Stream.<Path>empty()) {
            for (Path each : entries.toList()) {
                String name = each.getFileName().toString();
                if (others.contains(name)) {
                    continue;
                }
                List<String> within = others.stream()
                        .filter(other -> other.startsWith(name + "/"))
                        .map(other -> other.substring(name.length() + 1))
                        .toList();
                if (within.isEmpty()) {
                    Files.createSymbolicLink(made.resolve(name), each);
                } else {
                    link(each, made.resolve(name), within);
                }
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) { // does not follow links
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
