package trigon.tools.doctor;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import picocli.CommandLine.Command;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Agent;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;

/** {@code trigon agent}: a node's part of an examination, which {@code doctor} starts there. */
@Command(
        name = "agent",
        hidden = true,
        description = {
            "Answer questions of \"trigon doctor\" from standard input.",
            "The part of the doctor that it starts on each node by ssh."
        })
public final class AgentCommand extends ToolCommand {

    public AgentCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException {
        try (Agent agent = new Agent(machine, InstantSource.system());
                BufferedReader questions = new BufferedReader(
                        new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8))) {
            agent.serve(questions, console.out());
            return 0;
        }
    }
}
