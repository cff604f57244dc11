package trigon.tools.up;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.diagnosis.FreeAddresses;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.nodes.ReachOptions;

/** {@code trigon up}: from blank machines with cables to nodes on which a job runs. */
@Command(
        name = "up",
        description = {
            "Set up cabled nodes, from ssh to a verified job.",
            "Installs Trigon, gives the cables addresses, shares a cluster key, has NCCL load Trigon, and measures"
                    + " every pair. Shows all changes and asks once. What is right stays; running it again changes"
                    + " nothing.",
            "If anything fails, or this command is killed, all nodes are as before within 90 s. \"trigon down\" takes"
                    + " everything back later.",
            "The nodes need ssh and sudo. An address that carries a login is not changed."
        })
public final class UpCommand extends ToolCommand {

    private final InputStream input;

    @Parameters(arity = "2..64", paramLabel = "NODE", description = "The nodes, by their ssh names.")
    private List<String> names = List.of();

    @Mixin
    private ReachOptions reach = new ReachOptions();

    @Option(names = "--dry-run", description = "Stop before the question. All nodes are then as before.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Option(names = "--ask-sudo", description = "Ask for the password of sudo, once for all nodes.")
    private boolean asksSudo;

    @Option(names = "--base", paramLabel = "N", description = "Take new addresses from 10.N.0.0/16. Default: 77")
    private int base = FreeAddresses.USUAL_BASE;

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            description = "MTU of the cables, where both ends can. Default: 9000")
    private int mtu = 9000;

    @Option(
            names = "--undo-after",
            hidden = true,
            paramLabel = "S",
            description = "Seconds until a node without this command undoes everything; tests wait for less.")
    private int seconds = 90;

    public UpCommand(Machine machine, Console console) {
        this(machine, console, new FileInputStream(FileDescriptor.in));
    }

    UpCommand(Machine machine, Console console, InputStream input) {
        super(machine, console);
        this.input = input;
    }

    @Override
    public Integer call() throws IOException {
        UpOptions.check(names, base, mtu).ifPresent(flaw -> {
            throw wrong(flaw);
        });
        Nodes nodes = new Nodes(names, new RemoteShell(reach, machine.hostName(), UpOptions.password(asksSudo)));
        Question question = new Question(console, input);
        stage("reach");
        Map<String, Reach.Reached> reached = new Login(machine, console, reach, question).reach(nodes, yes);
        for (String line : nodes.each(node -> nodes.run(
                        node, "undo what a killed run has left", "look below /var/lib/trigon", Journal.undoPending()))
                .all()
                .values()) {
            line.lines()
                    .filter(each -> each.startsWith("undone "))
                    .forEach(_ -> console.note("a killed run was undone"));
        }
        String id = LocalDateTime.now(ZoneOffset.UTC).format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss")) + "-"
                + ProcessHandle.current().pid();
        Journals journals = new Journals(nodes, new Journal(id, seconds), console);
        boolean done = false;
        try (Journals.Awake _ = journals.keepAwake()) {
            List<String> installed = install(nodes, reached, journals);
            done = run(nodes, reached, journals, installed, question);
        } finally {
            console.done();
            if (!done) {
                journals.undo();
            }
        }
        return 0;
    }

    private void stage(String name) {
        console.note("up: " + name);
    }

    /** Copies this machine's distribution to the nodes that need it, which are returned. */
    private List<String> install(Nodes nodes, Map<String, Reach.Reached> reached, Journals journals) {
        stage("install");
        Installation package_ = new Installation(nodes, home());
        List<String> without = nodes
                .each(node -> package_.isMissing(node, Objects.requireNonNull(reached.get(node))))
                .all()
                .entrySet()
                .stream()
                .filter(Map.Entry::getValue)
                .map(Map.Entry::getKey)
                .toList();
        if (!without.isEmpty()) {
            journals.begin();
            console.doing("copying Trigon to " + String.join(", ", without));
            var _ = new Nodes(without, nodes.shell())
                    .each(node -> {
                        package_.copy(node, journals.journal());
                        return true;
                    })
                    .all();
            journals.extend(Map.of());
        }
        return without;
    }

    /** True if what was done is to stay. */
    private boolean run(
            Nodes nodes,
            Map<String, Reach.Reached> reached,
            Journals journals,
            List<String> installed,
            Question question)
            throws IOException {
        stage("look");
        Look look = new Look(machine, console, nodes, reach);
        Map<String, Survey> surveys = look.surveys();
        look.bringUp(surveys, journals);
        Observations seen = look.examine();
        Look.endLook(surveys, journals);
        UpPlan plan = UpPlan.of(seen, Ends.of(seen, surveys), surveys, new UpPlan.Wishes(base, mtu));
        Map<String, OwnName> ownNames = OwnName.of(seen, plan.shared());
        JobStep job = new JobStep(nodes, reached, plan.shared(), ownNames);
        List<String> missing = new ArrayList<>(
                installed.stream().map(node -> node + ": " + Installation.HOME).toList());
        missing.addAll(job.look());
        UpText text = new UpText(console, nodes);
        text.show(plan, missing);
        if (plan.shared().leased()) {
            ownNames.forEach((node, name) -> console.note(
                    "%s: give its own name an address that stays, for Gloo: %s".formatted(node, name.text())));
        }
        if (plan.isRight() && missing.isEmpty()) {
            Look.check(seen, plan);
            console.say("Nothing has to be changed, and every cable carries data.");
            text.launchLines(plan);
            return false;
        }
        stage("question");
        if (dryRun || (!yes && !question.isAnsweredYes("Make these changes?"))) {
            console.say("Nothing was changed.");
            return false;
        }
        change(nodes, plan, surveys, look, job, journals);
        text.launchLines(plan);
        return true;
    }

    private void change(
            Nodes nodes, UpPlan plan, Map<String, Survey> surveys, Look look, JobStep job, Journals journals)
            throws IOException {
        stage("try");
        var _ = journals.step(
                "give its cables addresses", "look at its interfaces: ip addr", KeepStep.inTheKernel(plan, surveys));
        stage("verify");
        look.verify(plan);
        stage("keep");
        var _ = journals.step(
                "keep the addresses", "look at what is in charge of them", KeepStep.inFiles(plan, nodes.names()));
        stage("key");
        job.giveKey(journals.journal());
        stage("enable");
        var _ = job.enable(journals);
        stage("check");
        look.verify(plan);
        job.limited().forEach(console::note);
        stage("bench");
        PairBench.print(new PairBench(nodes, plan.shared()).run(), console);
        journals.keep();
        stage("done");
    }
}
