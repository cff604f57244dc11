package trigon.policy.commands;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.policy.Policy;
import trigon.policy.PolicyException;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;

/** {@code trigon policy verify}: whether a job would take these objects, and if not, why. */
@Command(
        name = "verify",
        description = {
            "Verify, compile and warm up policies as a job would.",
            "Needs no job. A refusal shows the program, instruction, source line, register state, rule and remedy."
        })
final class PolicyVerifyCommand extends ToolCommand {

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Objects made by clang -target bpf.")
    private List<Path> files = List.of();

    @Option(names = "--json", description = "The result as JSON, schema trigon.policy-verify/1.")
    private boolean json;

    PolicyVerifyCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        List<Object> results = new ArrayList<>();
        boolean good = true;
        for (Path path : files) {
            PolicyObjectFile file = PolicyObjectFile.read(path);
            try {
                Policy policy = file.load().active().orElseThrow();
                if (json) {
                    results.add(json(path, policy));
                } else {
                    print(path, policy);
                }
            } catch (PolicyException e) {
                good = false;
                if (json) {
                    results.add(json(path, e));
                } else {
                    print(path, e);
                }
            }
        }
        if (json) {
            printJson("trigon.policy-verify/1", Json.object("files", results));
        }
        return good ? 0 : 1;
    }

    private void print(Path path, Policy policy) {
        console.out().println(console.styled(Style.GOOD, "accepted") + "  " + path);
        console.out().println("sha256    " + policy.digest());
        Table table = new Table("program", "section", "at most, instructions", "decides");
        for (Policy.Program program : policy.programs()) {
            table.row(program.name(), program.type().section(), program.worstCase(), decides(program));
        }
        table.print(console);
    }

    private void print(Path path, PolicyException refused) {
        console.out().println(console.styled(Style.BAD, "refused") + "   " + path);
        String.valueOf(refused.getMessage())
                .lines()
                .forEach(line -> console.out().println("  " + line));
    }

    private static String decides(Policy.Program program) {
        if (program.advisory()) {
            return "advisory, not shown to be the same on all ranks: used where ranks of one node agree on it first";
        }
        return program.type().ranksMustAgree() ? "the same on all ranks, as is shown" : "for this process";
    }

    private static Object json(Path path, Policy policy) {
        return Json.object(
                "file", path.toString(),
                "accepted", true,
                "sha256", policy.digest(),
                "programs",
                        policy.programs().stream()
                                .map(program -> Json.object(
                                        "name", program.name(),
                                        "section", program.type().section(),
                                        "worstCaseInstructions", program.worstCase(),
                                        "advisory", program.advisory()))
                                .toList());
    }

    private static Object json(Path path, PolicyException refused) {
        return Json.object(
                "file", path.toString(),
                "accepted", false,
                "kind", refused.kind().name().toLowerCase(Locale.ROOT),
                "reason", refused.summary());
    }
}
