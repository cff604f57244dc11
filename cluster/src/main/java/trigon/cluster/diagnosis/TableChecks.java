package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.facts.TunedTable;

/** Checks whether a node is still what the table of its policy was made for. Pure. */
final class TableChecks {

    private TableChecks() {}

    static List<Finding> of(String node, NodeFacts facts) {
        List<Finding> findings = new ArrayList<>();
        facts.plugin().tunedTable().ifPresent(table -> {
            if (table.hasOtherNccl()) {
                findings.add(stale(node, table, "NCCL " + table.nccl(), "NCCL " + table.ncclNow()));
            }
            if (table.hasOtherLinks()) {
                findings.add(stale(node, table, text(table.links()), text(table.linksNow())));
            }
        });
        return findings;
    }

    private static String text(List<String> links) {
        return links.isEmpty() ? "no link" : "links of " + String.join(", ", links) + " Mbit/s";
    }

    private static Finding stale(String node, TunedTable table, String then, String now) {
        return Finding.warning(
                "table-stale",
                node,
                "the policy's table was made for something else, so its choices may be slow now",
                "%s was made with %s; now there is %s".formatted(table.file(), then, now),
                advice(node, "run trigon tune again, or remove the policy from the settings"));
    }
}
