package trigon.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BinaryOperator;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.diagnosis.Finding.Kind;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.cluster.rdma.Transfer;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.keep.Lasting;

/** Findings for people: a matrix of the nodes, the links that were tried, and what is wrong. */
final class DoctorText {

    private static final int MAX_IN_MATRIX = 16;

    private final Console console;
    private final BinaryOperator<String> typed;
    private final Observations seen;
    private final List<Finding> findings;

    /** @param typed makes of a node and a command the line that is typed here */
    DoctorText(Console console, Observations seen, List<Finding> findings, BinaryOperator<String> typed) {
        this.console = console;
        this.typed = typed;
        this.seen = seen;
        this.findings = findings;
    }

    void print(boolean fix) {
        if (seen.facts().size() > 1) {
            matrix();
            links();
            cables();
        }
        findings();
        if (fix) {
            fixes();
        }
    }

    /** The answer in a line and the findings, for who wants no more. */
    void printShort() {
        long working = seen.probes().stream().filter(Probe::works).count();
        console.paragraph("nodes that answer: %d of %d; links that work, counted in each direction: %d of %d; %s"
                .formatted(
                        seen.facts().size(),
                        seen.facts().size() + seen.silent().size(),
                        working,
                        seen.probes().size(),
                        rdmaInShort()));
        findings();
    }

    private String rdmaInShort() {
        long tried = seen.probes().stream().filter(Probe::hasRdma).count();
        long right = seen.probes().stream().filter(Probe::isRdmaRight).count();
        boolean isThere = seen.facts().values().stream()
                .flatMap(facts -> facts.links().stream())
                .anyMatch(link -> link.isRdma());
        if (tried > 0) {
            return "%d of %d carry data by RDMA".formatted(right, tried);
        }
        return isThere ? "there is RDMA" : "over TCP, without RDMA";
    }

    private void matrix() {
        List<String> nodes = new ArrayList<>(seen.facts().keySet());
        nodes.addAll(seen.silent().keySet());
        if (nodes.size() > MAX_IN_MATRIX) {
            return;
        }
        console.line(Style.STRONG, "Working links of all links, from row to column");
        String[] header = new String[nodes.size() + 1];
        header[0] = "";
        for (int i = 0; i < nodes.size(); i++) {
            header[i + 1] = nodes.get(i);
        }
        Table table = new Table(header);
        for (String from : nodes) {
            String[] cells = new String[nodes.size() + 1];
            cells[0] = from;
            boolean good = true;
            for (int i = 0; i < nodes.size(); i++) {
                cells[i + 1] = cell(from, nodes.get(i));
                good &= !cells[i + 1].endsWith("!");
            }
            table.styled(good ? Style.GOOD : Style.BAD, (Object[]) cells);
        }
        table.print(console);
        console.out().println();
    }

    private String cell(String from, String to) {
        if (from.equals(to)) {
            return "-";
        }
        if (seen.silent().containsKey(from) || seen.silent().containsKey(to)) {
            return "?!";
        }
        List<Probe> between = seen.probes().stream()
                .filter(probe -> probe.from().equals(from) && probe.to().equals(to))
                .toList();
        long working = between.stream().filter(Probe::works).count();
        return between.isEmpty() ? "none" : working + "/" + between.size() + (working < between.size() ? " !" : "");
    }

    /** Short, so that the table fits into 80 columns. */
    private static String rdmaCell(Probe probe) {
        return probe.result()
                .rdma()
                .map(rdma -> switch (rdma) {
                    case Transfer.Right _ -> "ok";
                    case Transfer.NoAcknowledgement _ -> "no ack";
                    default -> rdma.outcome();
                })
                .orElse("-");
    }

    private void links() {
        if (seen.probes().isEmpty()) {
            return;
        }
        console.line(Style.STRONG, "Links");
        Table table = new Table("from", "to", "TCP", "RDMA", "round trip", "MTU", "rate", "addresses");
        for (Probe probe : seen.probes()) {
            table.styled(
                    probe.works() ? Style.GOOD : Style.BAD,
                    probe.from(),
                    probe.to(),
                    probe.tcp() == Usual.OK && probe.data() != Usual.RIGHT
                            ? "data: " + probe.data()
                            : probe.tcp().text(),
                    rdmaCell(probe),
                    probe.result().stream()
                            .roundTripMicros()
                            .map(us -> us + " us")
                            .orElse("-"),
                    probe.result()
                            .udpPackets()
                            .mtuArrives()
                            .map(Object::toString)
                            .orElse("-"),
                    probe.rdmaRate()
                            .or(probe.result().stream()::rateMbps)
                            .map(mbps -> mbps + " Mb/s")
                            .orElse("-"),
                    probe.fromAddress() + " - " + probe.toAddress());
        }
        table.print(console);
        console.out().println();
    }

    private void cables() {
        List<Cables.Cable> cables = Cables.of(seen);
        if (!cables.isEmpty()) {
            console.line(Style.STRONG, "Cables, by received multicast");
            Table table = new Table("one end", "other end");
            cables.forEach(cable -> table.row(cable.from(), cable.to()));
            table.print(console);
            console.out().println();
        }
        List<List<String>> switches = Cables.switches(seen);
        if (!switches.isEmpty()) {
            console.line(Style.STRONG, "Switches, by received multicast");
            switches.forEach(ends -> paragraph("", String.join(", ", ends)));
            console.out().println();
        }
    }

    private void findings() {
        if (findings.isEmpty()) {
            console.line(Style.GOOD, "No problems found.");
            return;
        }
        console.line(Style.STRONG, Count.of(findings.size(), "finding"));
        for (Finding finding : findings) {
            Style style = switch (finding.weight()) {
                case ERROR -> Style.BAD;
                case WARNING -> Style.WARNING;
                case NOTE -> Style.FAINT;
            };
            console.out().println();
            console.line(
                    style,
                    finding.weight().name().toLowerCase(Locale.ROOT) + " [" + finding.code() + "] " + finding.where());
            paragraph("", finding.what());
            paragraph("seen by: ", finding.evidence());
            for (Remedy remedy : finding.remedies()) {
                switch (remedy.kind()) {
                    case CHANGE -> console.out().println("  to do:  " + typed(remedy));
                    case LOOK -> console.out().println("  to see more:  " + typed(remedy));
                    case ADVICE -> paragraph("to do: ", advice(remedy));
                }
            }
        }
    }

    private String typed(Remedy remedy) {
        return typed.apply(remedy.node(), remedy.text());
    }

    /** With the node that it is about, where there are several. */
    private String advice(Remedy remedy) {
        boolean several = seen.facts().size() + seen.silent().size() > 1;
        return several && !remedy.node().equals("all") ? remedy.node() + ": " + remedy.text() : remedy.text();
    }

    private void paragraph(String word, String text) {
        Table.wrap(word + text, console.width() - 2)
                .forEach(line -> console.out().println("  " + line));
    }

    /** All commands that change something, by node, and what makes them last; none of them has been run. */
    private void fixes() {
        console.out().println();
        console.line(Style.STRONG, "Commands that would fix this; nothing was changed");
        List<String> said = new ArrayList<>();
        for (Finding finding : findings) {
            for (Remedy remedy : finding.remedies()) {
                boolean changes = remedy.kind() == Kind.CHANGE;
                String line = changes ? typed(remedy) : "# " + remedy.text();
                if (remedy.kind() != Kind.LOOK && !said.contains(remedy.node() + line)) {
                    said.add(remedy.node() + line);
                    console.out().println("# " + remedy.node() + ": " + finding.code());
                    console.out().println(line);
                    if (changes) {
                        Lasting.of(remedy.text(), seen.node(remedy.node())).forEach(console.out()::println);
                    }
                }
            }
        }
    }
}
