package trigon.cluster.facts;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.NicFacts;
import trigon.cluster.machine.PciSlot;
import trigon.cluster.machine.RdmaPortFacts;
import trigon.routing.LeftOut;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterface;
import trigon.system.InterfaceAddress;

/** The links of a machine as JSON. A change of what a key means needs a new number of the schema. */
public final class LinksJson {

    private static final String SCHEMA = "trigon.links/1";

    private LinksJson() {}

    /** All that is known. */
    public static Map<String, Object> of(Machine machine, MachineLinks links) {
        MachineGpus gpus = MachineGpus.of(machine);
        return machine.document(
                SCHEMA,
                "interfaces",
                links.nics().stream().map(nic -> nic(nic, links)).toList(),
                "rdmaPorts",
                links.rdma().stream().map(port -> port(port, links)).toList(),
                "gpus",
                gpus.gpus(),
                "gpuDriver",
                gpus.driver(),
                "gpuNics",
                gpus.gpus().isEmpty() ? Map.of() : gpus.nics(),
                "noRdma",
                links.noRdma(),
                "links",
                links.discovered().links().stream().map(LinksJson::link).toList(),
                "leftOut",
                links.discovered().leftOut().stream().map(LinksJson::leftOut).toList(),
                "warnings",
                links.warnings(),
                "problems",
                links.problems());
    }

    private static Map<String, Object> nic(NicFacts nic, MachineLinks links) {
        List<String> addresses =
                links.interfaces().withName(nic.name()).map(HostInterface::addresses).orElse(List.of()).stream()
                        .map(InterfaceAddress::toString)
                        .toList();
        Map<String, Object> states = new TreeMap<>();
        links.interfaces()
                .withName(nic.name())
                .map(HostInterface::states)
                .orElse(Map.of())
                .forEach((address, state) -> states.put(address.toString(), state.word()));
        return Json.object(
                "name",
                nic.name(),
                "state",
                nic.state(),
                "carrier",
                nic.carrier(),
                "speedMbps",
                nic.speedMbps(),
                "duplex",
                nic.duplex(),
                "mtu",
                nic.mtu(),
                "mac",
                nic.mac(),
                "otherNames",
                links.interfaces().otherNamesOf(nic.name()),
                "addresses",
                addresses,
                "addressStates",
                states,
                "driver",
                nic.driver(),
                "pci",
                nic.pci().map(LinksJson::pci),
                "cable",
                nic.cable(),
                "kind",
                nic.kind(),
                "counters",
                nic.counters());
    }

    private static Map<String, Object> pci(PciSlot pci) {
        return Json.object(
                "function",
                pci.function(),
                "bridge",
                pci.bridge(),
                "negotiated",
                pci.negotiated(),
                "possible",
                pci.possible(),
                "reduced",
                pci.isReduced());
    }

    private static Map<String, Object> port(RdmaPortFacts port, MachineLinks links) {
        return Json.object(
                "device",
                port.device(),
                "port",
                port.port(),
                "state",
                port.state(),
                "rate",
                port.rate(),
                "linkLayer",
                port.linkLayer(),
                "interfaces",
                port.interfaces(),
                "counters",
                port.counters(),
                "gpuMemory",
                links.gpuMemory(port.device()).toString(),
                "gids",
                port.gids().stream()
                        .map(gid -> Json.object(
                                "index",
                                gid.index(),
                                "gid",
                                gid.gid(),
                                "type",
                                gid.type(),
                                "interface",
                                gid.interfaceName()))
                        .toList());
    }

    private static Map<String, Object> link(LocalLink link) {
        return Json.object(
                "name",
                link.name(),
                "kind",
                link.kind().name().toLowerCase(Locale.ROOT),
                "device",
                link.deviceName(),
                "interface",
                link.interfaceName(),
                "address",
                link.address().toString(),
                "speedMbps",
                link.speedMbps(),
                "rank",
                link.rank());
    }

    private static Map<String, Object> leftOut(LeftOut each) {
        return Json.object(
                "name",
                each.name(),
                "why",
                each.cause().toString(),
                "weight",
                each.cause().weight().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                "down",
                each.cause().isDown());
    }
}
