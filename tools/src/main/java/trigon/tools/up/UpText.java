package trigon.tools.up;

import java.util.List;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.keep.Keeper;

/** A plan for people, on a screen: what changes, what stays, and what is left out. */
final class UpText {

    private final Console console;
    private final Nodes nodes;

    UpText(Console console, Nodes nodes) {
        this.console = console;
        this.nodes = nodes;
    }

    /** @param missing what jobs need, a line each */
    void show(UpPlan plan, List<String> missing) {
        console.line(Style.STRONG, Count.of(nodes.names().size(), "node") + ", " + Count.of(plan.cables(), "cable"));
        Table ends = new Table("node", "interface", "cable to", "changes", "kept by");
        for (NicPlan nic : plan.ends()) {
            String keeper = Keeper.of(nic.manager()).map(Keeper::program).orElse("");
            ends.row(
                    nic.end().node(),
                    nic.end().nic(),
                    nic.end().peer() + " " + nic.end().peerNic(),
                    nic.isRight() ? "none: " + nic.end().address() : nic.text(),
                    nic.isRight() ? "" : keeper);
        }
        ends.print(console);
        missing.forEach(line -> console.paragraph("to be written: " + line, 2));
        plan.leftOut().forEach(line -> console.paragraph("stays as it is: " + line, 2));
        plan.shared()
                .nics()
                .forEach((node, nic) -> console.paragraph(
                        "meets the others on: %s %s, %s"
                                .formatted(node, nic, plan.shared().addresses().get(node)),
                        2));
        console.out().flush();
    }

    /** Lines that start a job, for each launcher. */
    void launchLines(UpPlan plan) {
        List<String> names = nodes.names();
        String first = plan.shared().addresses().getOrDefault(names.getFirst(), names.getFirst());
        console.line(Style.STRONG, "Jobs need no variables:");
        List.of(
                        "torchrun --nnodes %d --node-rank RANK --nproc-per-node GPUS --master-addr %s train.py"
                                .formatted(names.size(), first),
                        "mpirun --host %s -np %d PROGRAM".formatted(String.join(",", names), names.size()),
                        "srun --nodelist %s --ntasks %d PROGRAM".formatted(String.join(",", names), names.size()))
                .forEach(line -> console.out().println("  " + line));
        console.out().flush();
    }
}
