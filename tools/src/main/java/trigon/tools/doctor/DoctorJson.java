package trigon.tools.doctor;

import java.util.List;
import java.util.Map;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;

/** Findings as JSON, in full and in short; {@code docs/reference/json.md} has the schemas. */
final class DoctorJson {

    private DoctorJson() {}

    static Map<String, Object> of(Machine machine, Observations seen, List<Finding> findings) {
        return machine.document(
                "trigon.doctor/1",
                "nodes",
                List.copyOf(seen.facts().keySet()),
                "silent",
                seen.silent(),
                "findings",
                findings.stream().map(Finding::json).toList(),
                "cables",
                Cables.of(seen),
                "switches",
                Cables.switches(seen),
                "probes",
                seen.probes(),
                "facts",
                List.copyOf(seen.facts().values()));
    }

    static Map<String, Object> inShort(Machine machine, Observations seen, List<Finding> findings) {
        return machine.document(
                "trigon.check/1",
                "good",
                Diagnosis.isHealthy(findings),
                "nodes",
                List.copyOf(seen.facts().keySet()),
                "silent",
                seen.silent(),
                "links",
                Json.object(
                        "tried",
                        seen.probes().size(),
                        "working",
                        seen.probes().stream().filter(Probe::works).count(),
                        "triedRdma",
                        seen.probes().stream().filter(Probe::hasRdma).count(),
                        "workingRdma",
                        seen.probes().stream().filter(Probe::isRdmaRight).count()),
                "findings",
                findings.stream().map(Finding::json).toList());
    }
}
