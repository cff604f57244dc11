package trigon.tools.metrics;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.system.InterfaceAddress;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;

/** {@code trigon metrics}: what the jobs of this machine count, for Prometheus. */
@Command(
        name = "metrics",
        description = {
            "Print the counters of running jobs for Prometheus.",
            "Covers the processes on this machine that use Trigon. Without an option, prints the page once."
        })
public final class MetricsCommand extends ToolCommand {

    private static final int SOCKET_TIMEOUT_MILLIS = 2000;
    private static final int MAX_REQUEST_BYTES = 8192;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "Write the page atomically to this file, for node_exporter's textfile collector.")
    private Optional<Path> file = Optional.empty();

    @Option(
            names = "--listen",
            paramLabel = "[ADDRESS:]PORT",
            description = "Serve the page by HTTP until interrupted. Default address: 127.0.0.1")
    private Optional<String> listen = Optional.empty();

    @Option(names = "--json", description = "The counters as JSON, schema trigon.metrics/1.")
    private boolean json;

    public MetricsCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        if (json && (file.isPresent() || listen.isPresent())) {
            throw wrong("--json does not go with --file and --listen, which are for Prometheus");
        }
        if (file.isPresent()) {
            write(file.get());
        } else if (listen.isPresent()) {
            serveAt(address(listen.get()));
        } else if (json) {
            printJson("trigon.metrics/1", Json.object("metrics", PrometheusPage.json(Job.all(console::note))));
        } else {
            console.out().print(PrometheusPage.of(Job.all(console::note)));
        }
        return 0;
    }

    private void write(Path to) {
        Path next = to.resolveSibling(
                to.getFileName() + "." + ProcessHandle.current().pid());
        try {
            UserFiles.checkReplaceable(to);
            Files.writeString(next, PrometheusPage.of(Job.all(console::note)));
            try {
                Files.move(next, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(next);
            }
        } catch (IOException e) {
            throw UserFiles.unwritable(to, e);
        }
    }

    private void serveAt(InetSocketAddress at) {
        try {
            serve(at);
        } catch (IOException e) {
            throw new CommandFailure("cannot listen on %s:%d: %s; give a free port, after an address of this machine"
                    .formatted(InterfaceAddress.text(at.getAddress()), at.getPort(), UserFiles.reason(e)));
        }
    }

    private InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        try {
            InetAddress address = colon < 0
                    ? InetAddress.getLoopbackAddress()
                    : InterfaceAddress.parseAddress(text.substring(0, colon).replaceAll("[\\[\\]]", ""));
            return new InetSocketAddress(address, Integer.parseInt(text.substring(colon + 1)));
        } catch (IllegalArgumentException e) {
            throw wrong("--listen is " + text + ": must be a port, or an IP address and a port such as 10.0.0.1:9100");
        }
    }

    private void serve(InetSocketAddress at) throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(at);
            console.err()
                    .println("trigon: http://" + InterfaceAddress.text(at.getAddress()) + ":" + server.getLocalPort()
                            + "/metrics");
            console.err().flush();
            while (!Thread.currentThread().isInterrupted()) {
                try (Socket socket = server.accept()) {
                    answer(socket);
                } catch (IOException e) {
                    console.doing("a request failed: " + UserFiles.reason(e));
                }
            }
        }
    }

    /** One at a time: who is slow is cut off. */
    private void answer(Socket socket) throws IOException {
        socket.setSoTimeout(SOCKET_TIMEOUT_MILLIS);
        byte[] request = new byte[MAX_REQUEST_BYTES];
        int length = 0;
        String text = "";
        while (!text.contains("\r\n\r\n") && length < request.length) {
            int count = socket.getInputStream().read(request, length, request.length - length);
            if (count < 0) {
                return;
            }
            length += count;
            text = new String(request, 0, length, StandardCharsets.ISO_8859_1);
        }
        boolean found = text.startsWith("GET /metrics ") || text.startsWith("GET / ");
        byte[] body = (found ? PrometheusPage.of(Job.all(console::note)) : "the page is /metrics\n")
                .getBytes(StandardCharsets.UTF_8);
        String head = String.join(
                "\r\n",
                "HTTP/1.1 " + (found ? "200 OK" : "404 Not Found"),
                "Content-Type: text/plain; version=0.0.4; charset=utf-8",
                "Content-Length: " + body.length,
                "Connection: close",
                "",
                "");
        OutputStream out = socket.getOutputStream();
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        out.write(body);
        out.flush();
    }
}
