package trigon.tools.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import picocli.CommandLine;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.Redaction;
import trigon.config.UnknownVariable;
import trigon.config.cluster.NodeConfig;
import trigon.tools.console.Console;
import trigon.tools.doctor.DoctorCommand;
import trigon.tools.explain.ExplainCommand;
import trigon.tools.links.LinksCommand;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.JobsCommand;

/**
 * A zip file for a bug report: the output of other commands, versions, settings and processes, and the ends of logs.
 * Secrets in names and texts are replaced. One thread.
 */
final class SupportArchive implements AutoCloseable {

    static final int MAX_LOG_BYTES = 1 << 22;
    private static final int WIDTH = 120;
    private static final String README = """
        What "trigon support" found on one machine, for a bug report.

        links, doctor, jobs     what the commands of these names say, as text and as JSON
        explain                 the path to each other node of the cluster file
        versions.json           of Trigon, the kernel, and NCCL and Trigon in running jobs
        settings.txt            the settings, and where each comes from
        environment.json        NCCL's and Trigon's variables, here and in running jobs
        processes.json          running jobs: command lines, and libraries that matter
        logs                    the ends of the logs that were named

        Keys, tokens and passwords are replaced by "(not shown)": the values of variables that are named as such,
        the cluster key, and what looks like one. A secret that nothing names may still be in a log.

        docs/guide/troubleshooting.md of Trigon's sources says where it goes.
        """;

    private final Machine machine;
    private final Console console;
    private final List<ProcessFacts> jobs;
    private final Redaction redaction;
    private final ZipOutputStream zip;
    private final FileTime time;

    /**
     * Creates the file, which its owner alone may read.
     *
     * @param jobs running ones
     * @throws IOException if the file is there already, or cannot be made
     */
    SupportArchive(
            Path file, Machine machine, Console console, List<ProcessFacts> jobs, Redaction redaction, Instant time)
            throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        this.zip = new ZipOutputStream(Files.newOutputStream(file), StandardCharsets.UTF_8);
        this.time = FileTime.from(time);
        this.machine = machine;
        this.console = console;
        this.jobs = jobs;
        this.redaction = redaction;
    }

    /** Adds all of it. */
    void fill(List<Path> logs) throws IOException {
        add("README.txt", README);
        add("versions.json", Json.text(versions()));
        add("environment.json", Json.text(environments()));
        add("processes.json", Json.text(processes()));
        MachineLinks links = MachineLinks.of(machine);
        add("settings.txt", settings(links));
        for (String json : new String[] {"", "--json"}) {
            String ending = json.isEmpty() ? ".txt" : ".json";
            add("links" + ending, said("links", json));
            add("doctor" + ending, said("doctor", json));
            add("jobs" + ending, said("jobs", json));
        }
        for (NodeConfig node :
                links.config().cluster().map(each -> each.nodes()).orElse(List.of())) {
            if (!links.config().thisNode().map(node::equals).orElse(false)) {
                add("explain/" + node.name() + ".txt", said("explain", "--to", node.name()));
            }
        }
        console.done();
        for (int i = 0; i < logs.size(); i++) {
            Path log = logs.get(i);
            addEnd("logs/%d-%s".formatted(i + 1, log.toAbsolutePath().getFileName()), log);
        }
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }

    /** Adds a file with that text; secrets in its name and its text are replaced. */
    private void add(String name, String text) throws IOException {
        ZipEntry entry = new ZipEntry(redaction.of(name));
        entry.setLastModifiedTime(time);
        zip.putNextEntry(entry);
        zip.write(redaction.of(text).getBytes(StandardCharsets.UTF_8));
        zip.closeEntry();
    }

    /** Adds the last part of a file, from the beginning of a line on. */
    private void addEnd(String name, Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long from = Math.max(0, channel.size() - MAX_LOG_BYTES);
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MAX_LOG_BYTES, channel.size()));
            channel.position(from);
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // until it is full, or the file has become shorter
            }
            String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
            // a secret that the cut has halved would not be known
            add(name, from == 0 ? text : text.substring(text.indexOf('\n') + 1));
        }
    }

    private String said(String name, String... options) {
        console.doing("asking " + name);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
            Console into = new Console(out, out, false, false, WIDTH);
            Callable<Integer> command = switch (name) {
                case "links" -> new LinksCommand(machine, into);
                case "doctor" -> new DoctorCommand(machine, into);
                case "jobs" -> new JobsCommand(machine, into);
                case "explain" -> new ExplainCommand(machine, into);
                default -> throw new IllegalArgumentException(name);
            };
            var _ = new CommandLine(command)
                    .setErr(new PrintWriter(out, true, StandardCharsets.UTF_8))
                    .setExecutionExceptionHandler((e, _, _) -> {
                        out.println(name + ": " + e);
                        return 1;
                    })
                    .execute(List.of(options).stream()
                            .filter(each -> !each.isEmpty())
                            .toArray(String[]::new));
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private Map<String, Object> versions() {
        return Json.object(
                "trigon", machine.version(),
                "release",
                        machine.home()
                                .flatMap(home -> Machine.text(home.resolve("release")))
                                .map(String::strip),
                "java", Runtime.version().toString(),
                "kernel", Machine.line(machine.file("proc/version")),
                "system",
                        Machine.text(machine.file("etc/os-release"))
                                .flatMap(text -> text.lines()
                                        .filter(line -> line.startsWith("PRETTY_NAME="))
                                        .findFirst()),
                "nvidiaDriver", Machine.line(machine.file("proc/driver/nvidia/version")),
                "amdDriver", Machine.line(machine.file("sys/module/amdgpu/version")),
                "processes",
                        jobs.stream()
                                .map(job -> Json.object(
                                        "pid", job.pid(),
                                        "nccl", versions(job, true),
                                        "plugin", versions(job, false)))
                                .toList());
    }

    private Map<String, Object> versions(ProcessFacts job, boolean nccl) {
        Map<String, Object> versions = new TreeMap<>();
        for (String library : nccl ? job.nccl() : job.trigon()) {
            Optional<String> version =
                    nccl ? ProcessFacts.ncclVersion(machine, library) : ProcessFacts.trigonVersion(machine, library);
            versions.put(library, version.orElse("unknown"));
        }
        return versions;
    }

    private String settings(MachineLinks links) {
        StringBuilder text = new StringBuilder();
        links.config().describe().forEach(line -> text.append(line).append('\n'));
        for (UnknownVariable each : links.config().unknownVariables()) {
            text.append("warning: ").append(each).append('\n');
        }
        links.problems().forEach(each -> text.append("problem: ").append(each).append('\n'));
        return text.toString();
    }

    private List<Map<String, Object>> environments() {
        List<Map<String, Object>> found = new ArrayList<>();
        found.add(Json.object("of", "this command", "variables", ours(machine.environment())));
        jobs.forEach(job -> found.add(Json.object("of", job.pid(), "variables", ours(job.environment()))));
        return found;
    }

    private Map<String, Object> ours(Map<String, String> environment) {
        Map<String, Object> ours = new TreeMap<>();
        environment.forEach((name, value) -> {
            if (name.startsWith("NCCL_") || name.startsWith("TRIGON_")) {
                ours.put(name, Redaction.isSecret(name) ? Redaction.HIDDEN : redaction.of(value));
            }
        });
        return ours;
    }

    private List<Map<String, Object>> processes() {
        return jobs.stream()
                .map(job -> Json.object(
                        "pid", job.pid(),
                        "program", job.program(),
                        "commandLine", redaction.words(job.commandLine()),
                        "nccl", job.nccl(),
                        "plugin", job.trigon()))
                .toList();
    }
}
