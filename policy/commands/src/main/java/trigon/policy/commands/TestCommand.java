package trigon.policy.commands;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.policy.Policy;
import trigon.policy.PolicyException;
import trigon.policy.PolicyHost;
import trigon.policy.commands.NcclPair.CollectiveKind;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Choice;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.Table;

/** {@code trigon policy test}: sizes in, decisions out, without NCCL. */
@Command(
        name = "test",
        description = {
            "Show what a policy decides for many sizes.",
            "Asks its tuner about collectives, as NCCL would. Where it does not decide, NCCL chooses. A policy"
                    + " with state sees the calls in this order."
        })
final class TestCommand extends ToolCommand {

    private static final int MIN_EXPONENT = 3;
    private static final int MAX_EXPONENT = 33;

    @Parameters(paramLabel = "FILE", description = "An object made by clang -target bpf.")
    private Path file = Path.of("");

    @Option(
            names = "--collective",
            split = ",",
            paramLabel = "NAME",
            converter = CollectiveName.class,
            description = "all-reduce, all-gather, reduce-scatter, broadcast, reduce, several by commas. Default: all.")
    private List<CollectiveKind> collectives = List.of(CollectiveKind.values());

    @Option(names = "--ranks", defaultValue = "4", description = "Ranks of the communicator. Default: 4.")
    private int ranks;

    @Option(names = "--nodes", defaultValue = "4", description = "Nodes of the communicator. Default: 4.")
    private int nodes;

    @Option(
            names = "--sizes",
            split = ",",
            paramLabel = "SIZE",
            converter = ByteCount.class,
            description = "Bytes of the collectives, as 65536, 64K, 4M or 1G. Default: powers of two from 8 to 8G.")
    private List<Long> sizes = powersOfTwo();

    @Option(names = "--json", description = "The result as JSON, schema trigon.policy-test/1.")
    private boolean json;

    TestCommand(Machine machine, Console console) {
        super(machine, console);
    }

    private static List<Long> powersOfTwo() {
        List<Long> sizes = new ArrayList<>();
        for (int exponent = MIN_EXPONENT; exponent <= MAX_EXPONENT; exponent++) {
            sizes.add(1L << exponent);
        }
        return sizes;
    }

    static final class CollectiveName extends Choice<CollectiveKind> {
        CollectiveName() {
            super(CollectiveKind.values());
        }
    }

    /** A size, with K, M or G behind it for powers of 1024. */
    static final class ByteCount implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            String digits = text.replaceFirst("[KMG]$", "");
            int shift = text.endsWith("K") ? 10 : text.endsWith("M") ? 20 : text.endsWith("G") ? 30 : 0;
            if (!digits.matches("[0-9]{1,9}") || digits.matches("0+")) {
                throw new TypeConversionException(
                        "'%s' is no size; it is a number of bytes, at least 1, such as 65536, 64K, 4M or 1G"
                                .formatted(text));
            }
            return Long.parseLong(digits) << shift;
        }
    }

    @Override
    public Integer call() {
        if (ranks < 1 || nodes < 1 || nodes > ranks) {
            throw wrong("%d ranks on %d nodes: both have to be at least 1, and nodes at most ranks"
                    .formatted(ranks, nodes));
        }
        Map<CollectiveKind, List<Decision>> decisions = new EnumMap<>(CollectiveKind.class);
        for (CollectiveKind each : collectives) {
            decisions.put(each, Decision.of(load(), each, ranks, nodes, sizes));
        }
        if (json) {
            printJson("trigon.policy-test/1", json(decisions));
        } else {
            decisions.forEach(this::print);
        }
        return 0;
    }

    /** Anew for each collective, so that what one leaves in maps does not change the next one's. */
    private PolicyHost load() {
        PolicyObjectFile object = PolicyObjectFile.read(file);
        try {
            PolicyHost host = object.load();
            Policy policy = host.active().orElseThrow();
            if (Decision.kind(policy).isEmpty()) {
                throw new CommandFailure(
                        "%s has no program in the section tuner, so it decides nothing about collectives; it has %s"
                                .formatted(
                                        file,
                                        policy.programs().stream()
                                                .map(program -> program.type().section())
                                                .toList()));
            }
            return host;
        } catch (PolicyException e) {
            throw new CommandFailure(
                    "%s is refused: %s; \"trigon policy verify %s\" says more".formatted(file, e.summary(), file));
        }
    }

    private void print(CollectiveKind collective, List<Decision> decisions) {
        console.out().println("%s, %s on %s".formatted(collective, Count.of(ranks, "rank"), Count.of(nodes, "node")));
        Table table = new Table("from", "to", "decision");
        int first = 0;
        for (int i = 1; i <= decisions.size(); i++) {
            if (i == decisions.size()
                    || !decisions.get(i).text().equals(decisions.get(first).text())) {
                table.row(
                        size(decisions.get(first).bytes()),
                        size(decisions.get(i - 1).bytes()),
                        decisions.get(first).text());
                first = i;
            }
        }
        table.print(console);
        console.out().println();
    }

    /** In the unit in which it is a whole number. */
    private static String size(long bytes) {
        String[] units = {"", "K", "M", "G"};
        int unit = 0;
        long number = bytes;
        while (unit < units.length - 1 && number % 1024 == 0 && number > 0) {
            number /= 1024;
            unit++;
        }
        return number + units[unit];
    }

    private Map<String, Object> json(Map<CollectiveKind, List<Decision>> decisions) {
        List<Object> all = new ArrayList<>();
        decisions.forEach((collective, list) -> list.forEach(decision -> all.add(Json.object(
                "collective", collective.toString(),
                "bytes", decision.bytes(),
                "leftToNccl", decision.isLeftToNccl(),
                "algorithm", decision.algorithm(),
                "protocol", decision.protocol(),
                "channels", decision.channels(),
                "avoid", decision.avoided(),
                "inJob", decision.text()))));
        return Json.object(
                "file", file.toString(),
                "ranks", ranks,
                "nodes", nodes,
                "decisions", all);
    }
}
