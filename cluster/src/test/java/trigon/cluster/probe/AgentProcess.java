package trigon.cluster.probe;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import trigon.cluster.json.Json;

/** A {@link PretendingAgent} as a process, started by whatever reaches a node that sees this machine's files. */
final class AgentProcess {

    private AgentProcess() {}

    /**
     * Starts one.
     *
     * @param via the program that reaches the node
     * @param name of the node, as that program knows it
     * @param patience for an answer
     */
    static NodeConnection start(List<String> via, String name, Duration patience) throws IOException {
        return RemoteNode.start(
                via,
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dtrigon.lane.library=" + System.getProperty("trigon.lane.library"),
                        "-cp",
                        classPath(),
                        PretendingAgent.class.getName()),
                name,
                patience);
    }

    /** As the command's own, which has no Logback: that of the tests would print to where the answers go. */
    private static String classPath() {
        return Pattern.compile(File.pathSeparator)
                .splitAsStream(System.getProperty("java.class.path"))
                .filter(jar -> !jar.contains("logback"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** A command in which PID is the agent's. */
    static String known(String command, NodeConnection node) throws IOException {
        return command.contains(" PID ")
                ? command.replace(
                        " PID ", " " + node.ask(Json.object("do", "pid")).whole("pid") + " ")
                : command;
    }
}
