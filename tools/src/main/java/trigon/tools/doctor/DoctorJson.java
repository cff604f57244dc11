package trigon.tools.doctor;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import trigon.tools.console.Json;
import trigon.tools.diagnosis.Finding;
import trigon.tools.diagnosis.Finding.Kind;
import trigon.tools.facts.NodeFacts;
import trigon.tools.machine.Machine;
import trigon.tools.probe.Observations;

/** Findings in the schema {@code trigon.doctor/1}, which {@code docs/reference/json.md} has. */
final class DoctorJson {

    private static final String SCHEMA = "trigon.doctor/1";

    private DoctorJson() {}

    static Map<String, Object> of(Machine machine, Observations seen, List<Finding> findings) {
        return machine.document(
                SCHEMA,
                "nodes",
                List.copyOf(seen.facts().keySet()),
                "silent",
                seen.silent(),
                "findings",
                findings.stream().map(DoctorJson::finding).toList(),
                "cables",
                Cables.of(seen),
                "probes",
                seen.probes(),
                "facts",
                seen.facts().values().stream().map(NodeFacts::json).toList());
    }

    private static Map<String, Object> finding(Finding finding) {
        return Json.object(
                "weight",
                finding.weight().name().toLowerCase(Locale.ROOT),
                "code",
                finding.code(),
                "where",
                finding.where(),
                "what",
                finding.what(),
                "evidence",
                finding.evidence(),
                "remedies",
                finding.remedies().stream()
                        .map(each -> Json.object(
                                "node",
                                each.node(),
                                each.isCommand() ? "command" : "advice",
                                each.text(),
                                "changes",
                                each.kind() == Kind.CHANGE))
                        .toList());
    }
}
