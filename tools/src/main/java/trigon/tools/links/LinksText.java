package trigon.tools.links;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.Nic.Pci;
import trigon.cluster.machine.RdmaPort;
import trigon.routing.LeftOut;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterface;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.verbs.LinkKind;

/** The links of a machine for people. */
public final class LinksText {

    private final Console console;

    LinksText(Console console) {
        this.console = console;
    }

    void print(MachineLinks links, MachineGpus gpus) {
        links.problems().forEach(problem -> console.paragraph(Style.BAD, "problem: " + problem));
        if (!links.problems().isEmpty()) {
            console.out().println("A job does not start before this is corrected. This machine has:");
            console.out().println();
        }
        printInterfaces(links);
        printPorts(links);
        printGpus(gpus);
        printShared(links);
        if (!links.problems().isEmpty()) {
            return;
        }
        printUsed(links);
        printLeftOut(links);
        links.warnings().forEach(warning -> {
            console.out().println();
            console.paragraph(Style.WARNING, "warning: " + warning);
        });
        if (links.discovered().links().isEmpty()) {
            console.out().println();
            console.paragraph(
                    Style.BAD,
                    "problem: there is no usable link: bring up an interface with an IP address, or name the NICs in a"
                            + " cluster file (TRIGON_CONFIG)");
        }
    }

    private void printInterfaces(MachineLinks links) {
        console.line(Style.STRONG, "Interfaces");
        Table table = new Table("name", "state", "speed", "MTU", "driver", "PCIe", "addresses");
        for (Nic nic : links.nics()) {
            String addresses = links.interfaces()
                    .withName(nic.name())
                    .map(LinksText::addresses)
                    .orElse("");
            boolean up = !nic.isDown() && nic.hasCarrier();
            table.styled(
                    up ? Style.GOOD : Style.FAINT,
                    nic.name(),
                    state(nic),
                    nic.speedMbps() > 0 ? speed(nic.speedMbps()) : "-",
                    Integer.toString(nic.mtu()),
                    nic.driver().isEmpty() ? "-" : nic.driver(),
                    nic.pci().map(LinksText::pci).orElse("-"),
                    addresses.isEmpty() ? "none" : addresses);
        }
        table.print(console);
    }

    /** With the states of those that are not used, or only last. */
    private static String addresses(HostInterface of) {
        return Stream.concat(
                        of.addresses().stream(), of.states().keySet().stream().sorted())
                .distinct()
                .map(address -> Optional.ofNullable(of.states().get(address))
                        .map(state -> address + " (" + state.word() + ")")
                        .orElse(address.toString()))
                .collect(Collectors.joining(" "));
    }

    private static String state(Nic nic) {
        String half = nic.duplex().equals("half") ? ", half duplex" : "";
        if (nic.lacksCarrier()) {
            return "no carrier";
        }
        return (nic.state().equals("unknown") ? "up" : nic.state()) + half;
    }

    private static String pci(Pci pci) {
        String negotiated = pci.negotiated();
        return negotiated.isEmpty() ? "-" : negotiated + (pci.isReduced() ? " of " + pci.possible() : "");
    }

    private void printPorts(MachineLinks links) {
        console.out().println();
        console.line(Style.STRONG, "RDMA ports");
        if (links.rdma().isEmpty()) {
            console.paragraph(links.noRdma().orElse("none"));
            return;
        }
        Table table = new Table("port", "state", "rate", "layer", "interface", "GPU memory", "GIDs");
        for (RdmaPort port : links.rdmaAsOpened()) {
            String gids = port.gids().stream()
                    .map(gid -> gid.index() + " " + gid.gid() + " " + gid.type())
                    .collect(Collectors.joining(", "));
            table.styled(
                    port.isActive() ? Style.GOOD : Style.FAINT,
                    port.label(),
                    port.state(),
                    port.rate(),
                    port.linkLayer(),
                    String.join(" ", port.interfaces()),
                    port.gpuMemory(),
                    gids.isEmpty() ? "none but link-local ones" : gids);
        }
        table.print(console);
        links.noRdma().ifPresent(why -> console.paragraph("not used: " + why));
    }

    private void printGpus(MachineGpus gpus) {
        if (gpus.gpus().isEmpty() || gpus.nics().isEmpty()) {
            return;
        }
        console.out().println();
        console.line(Style.STRONG, "From NICs to GPUs");
        Table table = new Table("NIC", "GPU", "distance", "ACS", "IOMMU", "model");
        new TreeMap<>(gpus.nics())
                .forEach((name, nic) -> nic.gpus()
                        .forEach(way -> table.styled(
                                way.distance().isBelowTheCpu() ? Style.GOOD : Style.FAINT,
                                name,
                                way.gpu(),
                                way.distance().toString(),
                                way.accessControl().map(Object::toString).orElse("-"),
                                nic.iommu().orElse("none"),
                                gpus.gpu(way.gpu()).model().orElse("-"))));
        table.print(console);
        gpus.driver()
                .ifPresent(driver -> console.paragraph("NVIDIA's driver: " + driver.version()
                        + (driver.open() ? ", open modules" : ", closed modules, which have no DMA-BUF")));
        if (gpus.gpus().stream().allMatch(MachineGpus.Gpu::isOfAmd)) {
            console.paragraph("Trigon offers RCCL no memory of GPUs: its buffers are in host memory.");
        } else if (gpus.gpus().stream().allMatch(MachineGpus.Gpu::sharesMemory)) {
            console.paragraph("This chip's GPU has no memory of its own (DGX Spark): NICs reach none, by design,"
                    + " and NCCL's buffers are in host memory.");
        }
    }

    private void printShared(MachineLinks links) {
        Map<String, List<String>> cables = new TreeMap<>();
        Map<String, List<String>> bridges = new TreeMap<>();
        for (Nic nic : links.nics()) {
            nic.cable()
                    .ifPresent(cable -> cables.computeIfAbsent(cable, _ -> new ArrayList<>())
                            .add(nic.name()));
            nic.pci()
                    .filter(pci -> !pci.negotiated().isEmpty())
                    .ifPresent(pci -> bridges.computeIfAbsent(
                                    pci.bridge() + " (" + pci.negotiated() + ")", _ -> new ArrayList<>())
                            .add(nic.name()));
        }
        cables.values().removeIf(each -> each.size() < 2);
        bridges.values().removeIf(each -> each.size() < 2);
        if (cables.isEmpty() && bridges.isEmpty()) {
            return;
        }
        console.out().println();
        console.line(Style.STRONG, "Shared");
        cables.forEach(
                (_, nics) -> console.paragraph(String.join(", ", nics) + ": functions of one port, on one cable"));
        bridges.forEach(
                (bridge, nics) -> console.paragraph(String.join(", ", nics) + ": share the PCIe link of " + bridge));
    }

    private void printUsed(MachineLinks links) {
        console.out().println();
        console.line(Style.STRONG, "Links that Trigon uses");
        Table table = new Table("link", "kind", "speed", "interface", "address");
        for (LocalLink link : links.discovered().links()) {
            table.styled(
                    Style.GOOD,
                    link.name(),
                    carrier(link),
                    link.speedMbps() > 0 ? speed(link.speedMbps()) : "-",
                    link.interfaceName(),
                    link.address().toString());
        }
        if (table.isEmpty()) {
            console.out().println("none");
        } else {
            table.print(console);
        }
    }

    private void printLeftOut(MachineLinks links) {
        List<LeftOut> leftOut = links.discovered().leftOut();
        if (leftOut.isEmpty()) {
            return;
        }
        console.out().println();
        console.line(Style.STRONG, "Links that Trigon does not use");
        Table table = new Table("what", "why");
        for (LeftOut each : leftOut) {
            table.styled(
                    each.cause().weight() == LeftOut.Weight.NOT_USED ? Style.FAINT : Style.WARNING,
                    each.name(),
                    each.cause().toString());
        }
        table.print(console);
    }

    /** Name of what carries its data, for people: {@code TCP} or {@code RDMA}. */
    public static String carrier(LocalLink link) {
        return link.kind() == LinkKind.RDMA ? "RDMA" : "TCP";
    }

    private static String speed(int mbps) {
        return mbps % 1000 == 0 ? mbps / 1000 + " Gb/s" : mbps + " Mb/s";
    }
}
