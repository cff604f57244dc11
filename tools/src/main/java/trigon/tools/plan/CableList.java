package trigon.tools.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.InterfaceAddress;
import trigon.tools.console.CommandFailure;

/**
 * A file with cables, as a user or {@code trigon doctor --cables} writes it: YAML, read line by line. {@code cables}
 * has texts such as {@code - a:eth1 b:eth2}, a cable each; an end may have addresses, as {@code a:eth1=10.0.12.1/24}.
 * {@code machines} says which nodes are DGX Sparks, and {@code used} which subnets the nodes have elsewhere.
 */
final class CableList {

    /** An end of a cable: its node, and its interface, which may be missing. */
    private static final Pattern END = Pattern.compile(
            "([A-Za-z0-9][A-Za-z0-9._-]{0,62}?)(?::([A-Za-z0-9._@-]{1,15}))?(?:=([0-9A-Fa-f.:/,]{1,1000}))?");

    private static final Pattern LINE = Pattern.compile("(\\S+)\\s+(?:-\\s+|--\\s+)?(\\S+)");
    private static final Pattern MACHINES = Pattern.compile("machines:\\s*(\\S+|\\{[^{}]*\\})");
    private static final Pattern MACHINE = Pattern.compile("\\s*(\\S+?)\\s*:\\s*(\\S+)\\s*");
    private static final String SPARK = "dgx-spark";
    private static final String OTHER = "other";

    private final String name;
    private final List<String[]> ends = new ArrayList<>();
    private final Map<String, List<InterfaceAddress>> addresses = new HashMap<>();
    private final List<InterfaceAddress> used = new ArrayList<>();
    private final Set<String> sparks = new HashSet<>();
    private boolean allSparks;
    private String section = "";

    private CableList(String name, boolean spark) {
        this.name = name;
        this.allSparks = spark;
    }

    /**
     * Reads it.
     *
     * @param name of the file, for errors
     * @param spark true if all nodes are DGX Sparks, whatever the file says
     */
    static Cabling read(String name, String text, boolean spark) {
        CableList list = new CableList(name, spark);
        int number = 0;
        for (String line : text.split("\n", -1)) {
            list.add(++number, line.replaceFirst("(^|\\s)#.*", "").strip());
        }
        return Cabling.of(list.ends, new Machines(list.allSparks, list.sparks, list.addresses, list.used));
    }

    private void add(int number, String line) {
        String place = name + ":" + number;
        Matcher machines = MACHINES.matcher(line);
        if (line.isEmpty() || line.equals("---")) {
            return;
        }
        if (line.equals("cables:") || line.equals("used:")) {
            section = line;
        } else if (machines.matches()) {
            addMachines(place, machines.group(1));
        } else if (section.equals("used:") && line.startsWith("- ")) {
            used.add(address(place, line.substring(2).strip()));
        } else {
            addCable(place, line);
        }
    }

    private void addCable(String place, String line) {
        Matcher cable =
                LINE.matcher(line.startsWith("- ") ? line.substring(2).strip().replaceAll("[\"']", "") : "");
        if (!section.equals("cables:") || !cable.matches()) {
            throw new CommandFailure(
                    "%s: \"%s\" is not a cable: the file needs the line \"cables:\", then lines such as"
                                    .formatted(place, line)
                            + " \"- a:eth1 b:eth2\"");
        }
        ends.add(new String[] {end(place, cable.group(1)), end(place, cable.group(2)), place});
    }

    /** Notes the addresses of an end; the rest of its text. */
    private String end(String place, String text) {
        Matcher end = END.matcher(text);
        if (!end.matches()) {
            throw new CommandFailure(place + ": \"" + text + "\" is not the end of a cable: write NODE or"
                    + " NODE:INTERFACE, and its addresses after =");
        }
        String has = end.group(3);
        if (has != null) {
            if (end.group(2) == null) {
                throw new CommandFailure(
                        place + ": \"" + text + "\" has an address without an interface: write NODE:INTERFACE=ADDRESS");
            }
            List<InterfaceAddress> these = new ArrayList<>();
            for (String each : has.split(",", -1)) {
                these.add(address(place, each));
            }
            addresses.put(end.group(1) + ":" + end.group(2), these);
        }
        return text.replaceFirst("=.*", "");
    }

    private void addMachines(String place, String text) {
        if (text.equals(SPARK) || text.equals(OTHER)) {
            allSparks |= text.equals(SPARK);
            return;
        }
        for (String each : text.replaceAll("[{}]", "").split(",", -1)) {
            Matcher machine = MACHINE.matcher(each);
            if (!machine.matches() || !List.of(SPARK, OTHER).contains(machine.group(2))) {
                throw new CommandFailure(
                        "%s: \"%s\" is no kind of machine: write \"machines: %s\" if all nodes are DGX Sparks, or"
                                        .formatted(place, each.strip(), SPARK)
                                + " \"machines: {a: %s, b: %s}\"".formatted(SPARK, OTHER));
            }
            if (machine.group(2).equals(SPARK)) {
                sparks.add(machine.group(1));
            }
        }
    }

    private static InterfaceAddress address(String place, String text) {
        try {
            return InterfaceAddress.parse(text);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure("%s: \"%s\" is no address: %s".formatted(place, text, e.getMessage()));
        }
    }
}
