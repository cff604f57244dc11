package trigon.tools.bench;

import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;

/**
 * A result with the hardware that it was measured on, for others to see: the NICs, speeds and figures, and no name,
 * address or free text of the machines. What it has is chosen here, one by one, so that nothing needs to be taken out.
 */
final class Submission {

    private static final Pattern MODEL = Pattern.compile("(?m)^model name\\s*:\\s*(.+)$");

    private Submission() {}

    /** Puts it together, in the schema {@code trigon.submission/1}, which {@code docs/reference/json.md} has. */
    static Map<String, Object> of(Machine machine, NodeFacts node, BenchResult result) {
        return Json.object(
                "schema", "trigon.submission/1",
                "version", machine.version(),
                "date", Instant.now().atZone(ZoneOffset.UTC).toLocalDate().toString(),
                "machine", node.system().machine(),
                "architecture", node.system().architecture(),
                "processor", processor(machine),
                "processors", Runtime.getRuntime().availableProcessors(),
                "kernel", node.system().kernel(),
                "gpus",
                        node.local().gpus().stream()
                                .flatMap(gpu -> gpu.model().stream())
                                .toList(),
                "nics",
                        node.interfaces().stream()
                                .filter(nic -> nic.pci().isPresent())
                                .map(Submission::nic)
                                .toList(),
                "rdma", node.rdmaPorts().stream().map(Submission::rdma).toList(),
                "good", result.isGood(),
                "shareOfSpeed", result.verdict().share(),
                "failedOver", result.hasFailedOver(),
                "perftest", result.figures(),
                "measurements", result.rows().stream().map(Submission::row).toList());
    }

    private static Optional<String> processor(Machine machine) {
        return Machine.text(machine.file("proc/cpuinfo"))
                .map(MODEL::matcher)
                .filter(Matcher::find)
                .map(m -> m.group(1));
    }

    private static Map<String, Object> nic(Nic nic) {
        return Json.object(
                "driver", nic.driver(),
                "speedMbps", nic.speedMbps(),
                "mtu", nic.mtu(),
                "pcie", nic.pci().map(Nic.Pci::negotiated),
                "pciePossible", nic.pci().map(Nic.Pci::possible),
                "hasCarrier", nic.hasCarrier());
    }

    private static Map<String, Object> rdma(RdmaPort port) {
        return Json.object(
                "state", port.state(),
                "rate", port.rate(),
                "linkLayer", port.linkLayer(),
                "gidTypes", port.gids().stream().map(RdmaPort.GidEntry::type).toList(),
                "counters", port.counters(),
                "gpuMemory", port.gpuMemory());
    }

    private static Map<String, Object> row(BenchRow row) {
        Map<String, Object> json = Json.object(
                "test", row.step().kind().toString(),
                "ranks", row.step().ranks(),
                "bytes", row.step().bytes(),
                "channels", row.step().channels(),
                "failed", row.hasFailed());
        if (!row.hasFailed()) {
            json.putAll(Json.object(
                    "rounds", row.rounds().size(),
                    "medianMicros", row.micros(),
                    "p99Micros", row.p99Micros(),
                    "gigabytesPerSecond", row.gigabytesPerSecond(),
                    "wrong", row.wrong(),
                    "carriers",
                            row.networks().stream()
                                    .map(Network::carrier)
                                    .distinct()
                                    .toList(),
                    "isRelayed",
                            row.networks().stream()
                                    .anyMatch(each -> each.relays().isPresent())));
        }
        return json;
    }
}
