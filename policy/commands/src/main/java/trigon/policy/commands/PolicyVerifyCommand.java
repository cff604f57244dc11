package trigon.policy.commands;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.policy.Policy;
import trigon.policy.PolicyException;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.map.MapSet;
import trigon.policy.verify.VerifierLimits;
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

    /** Result of a file: a policy, or the reason of its refusal. */
    private sealed interface Verdict {
        record Accepted(Policy policy) implements Verdict {}

        record Refused(PolicyException why) implements Verdict {}
    }

    @Override
    public Integer call() {
        List<Object> results = new ArrayList<>();
        boolean good = true;
        for (Path path : files) {
            PolicyObjectFile file = PolicyObjectFile.read(path);
            Verdict verdict = verdict(file);
            good &= verdict instanceof Verdict.Accepted;
            if (json) {
                results.add(json(file, verdict));
            } else {
                print(file, verdict);
            }
        }
        if (json) {
            printJson("trigon.policy-verify/1", Json.object("files", results));
        }
        return good ? 0 : 1;
    }

    private static Verdict verdict(PolicyObjectFile file) {
        try {
            PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
            return new Verdict.Accepted(host.replace(file.name(), file.bytes()));
        } catch (PolicyException e) {
            return new Verdict.Refused(e);
        }
    }

    private void print(PolicyObjectFile file, Verdict verdict) {
        switch (verdict) {
            case Verdict.Accepted(Policy policy) -> {
                console.out().println(console.styled(Style.GOOD, "accepted") + "  " + file.path());
                console.out().println("sha256    " + policy.digest());
                Table table = new Table("program", "section", "at most, instructions", "decides");
                for (Policy.Program program : policy.programs()) {
                    table.row(program.name(), program.type().section(), program.worstCase(), decides(program));
                }
                table.print(console);
            }
            case Verdict.Refused(PolicyException why) -> {
                console.out().println(console.styled(Style.BAD, "refused") + "   " + file.path());
                String.valueOf(why.getMessage())
                        .lines()
                        .forEach(line -> console.out().println("  " + line));
            }
        }
    }

    private static String decides(Policy.Program program) {
        if (program.advisory()) {
            return "advisory, not shown to be the same on all ranks: used where ranks of one node agree on it first";
        }
        return program.type().ranksMustAgree() ? "the same on all ranks, as is shown" : "for this process";
    }

    private static Object json(PolicyObjectFile file, Verdict verdict) {
        return switch (verdict) {
            case Verdict.Accepted(Policy policy) ->
                Json.object(
                        "file", file.path().toString(),
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
            case Verdict.Refused(PolicyException why) ->
                Json.object(
                        "file", file.path().toString(),
                        "accepted", false,
                        "kind", why.kind().name().toLowerCase(java.util.Locale.ROOT),
                        "reason", why.summary());
        };
    }
}
