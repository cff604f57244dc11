package trigon.integration.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.ProjectFiles;
import trigon.testsupport.Await;

/** The attacker on the cables of {@link HostileNetworkIT}: a program in Python. Closing kills it. */
final class Stranger implements AutoCloseable {

    private final Process process;
    private final Writer commands;
    private final Path output;

    /** One that records from now on. */
    Stranger(CableNamespaces network, Path output) throws IOException {
        this.output = output;
        assumeThat(new ProcessBuilder("python3", "-c", "")
                        .start()
                        .onExit()
                        .join()
                        .exitValue())
                .as("exit status of python3")
                .isZero();
        List<String> command = new ArrayList<>(network.by("stranger"));
        command.addAll(List.of("python3", ProjectFiles.PROJECT + "/integration-tests/src/test/python/hostile"));
        command.addAll(List.of("ab0:ab:10.79.12.9:10.79.12.1,10.79.12.2", "bc0:bc:10.79.23.9:10.79.23.2,10.79.23.3"));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        commands = process.outputWriter(StandardCharsets.UTF_8);
        await("recording");
    }

    /** Does that to these processes from now on. */
    void begin(String what, List<HostProgram> ranks) throws IOException {
        String processes = ranks.stream().map(rank -> "" + rank.pid()).collect(Collectors.joining(" "));
        say(what + " " + processes);
        await("attacking");
    }

    /** Ends; returns what it has said. */
    String end() throws IOException, InterruptedException {
        say("end");
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(said()).isTrue();
        assertThat(process.exitValue()).as(said()).isZero();
        return said();
    }

    private void say(String line) throws IOException {
        commands.write(line + "\n");
        commands.flush();
    }

    private void await(String text) {
        Await.until(() -> text + " in: " + said(), Await.DEADLINE, () -> said().contains(text) || !process.isAlive());
        assertThat(process.isAlive()).as(said()).isTrue();
    }

    private String said() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
