package trigon.tools.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.tools.console.CommandFailure;

/**
 * Nodes and the cables between them.
 *
 * @param nodes by name, in the order in which they first appear
 * @param cables in the order of the user's list
 */
public record Cabling(List<String> nodes, List<Cable> cables) {

    /**
     * A cable.
     *
     * @param from name of a node
     * @param fromNic its interface
     * @param to name of another node
     * @param toNic its interface
     */
    public record Cable(String from, String fromNic, String to, String toNic) {

        boolean joins(String one, String other) {
            return (from.equals(one) && to.equals(other)) || (from.equals(other) && to.equals(one));
        }
    }

    /** The most nodes that a plan may have. */
    public static final int MOST_NODES = 1024;

    private static final Pattern END =
            Pattern.compile("([A-Za-z0-9][A-Za-z0-9._-]{0,62}?)(?::([A-Za-z0-9._@-]{1,15}))?");
    private static final Pattern LINE = Pattern.compile("(\\S+)\\s+(?:-\\s+|--\\s+)?(\\S+)");

    public Cabling {
        nodes = List.copyOf(nodes);
        cables = List.copyOf(cables);
    }

    /**
     * Of a file: YAML with the key {@code cables} and a list of texts, a cable each, such as {@code - a:eth1 b:eth2}.
     * Without interfaces they are called link1, link2 and so on.
     *
     * @param name of the file, for errors
     */
    public static Cabling read(String name, String text) {
        List<String[]> ends = new ArrayList<>();
        int number = 0;
        boolean begun = false;
        for (String raw : text.split("\n", -1)) {
            number++;
            String line = raw.replaceFirst("(^|\\s)#.*", "").strip();
            if (line.isEmpty() || line.equals("---")) {
                continue;
            }
            if (line.equals("cables:") && !begun) {
                begun = true;
                continue;
            }
            Matcher cable = LINE.matcher(
                    line.startsWith("- ") ? line.substring(2).strip().replaceAll("[\"']", "") : "");
            if (!begun || !cable.matches()) {
                throw new CommandFailure(
                        "%s:%d: \"%s\" is no cable: the file has the line \"cables:\" and then lines such as"
                                        .formatted(name, number, line)
                                + " \"- a:eth1 b:eth2\"");
            }
            ends.add(new String[] {cable.group(1), cable.group(2), name + ":" + number});
        }
        return of(ends);
    }

    /**
     * Of a shape and its size: {@code ring:6}, {@code line:4}, {@code star:5}, {@code mesh:4}.
     *
     * @throws WrongOption if it is none
     */
    public static Cabling shape(String text) {
        String[] words = text.split(":", -1);
        int size = words.length == 2 && words[1].matches("\\d{1,4}") ? Integer.parseInt(words[1]) : 0;
        if (size < 2 || size > MOST_NODES) {
            throw new WrongOption("--shape is " + text + ": must be ring, line, star or mesh, a colon, and a number of"
                    + " nodes from 2 to " + MOST_NODES);
        }
        List<String[]> ends = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            for (int j = i + 1; j < size; j++) {
                boolean joined = switch (words[0]) {
                    case "ring" -> j == i + 1 || (size > 2 && i == 0 && j == size - 1);
                    case "line" -> j == i + 1;
                    case "star" -> i == 0;
                    case "mesh" -> true;
                    default -> throw new WrongOption("--shape is " + text + ": must be ring, line, star or mesh");
                };
                if (joined) {
                    ends.add(new String[] {"n" + (i + 1), "n" + (j + 1), "--shape"});
                }
            }
        }
        return of(ends);
    }

    private static Cabling of(List<String[]> ends) {
        Map<String, Integer> links = new LinkedHashMap<>();
        TreeSet<String> used = new TreeSet<>();
        List<Cable> cables = new ArrayList<>();
        for (String[] each : ends) {
            String[] from = end(each[0], each[2], links, used);
            String[] to = end(each[1], each[2], links, used);
            if (from[0].equals(to[0])) {
                throw new CommandFailure(each[2] + ": both ends of the cable are at " + from[0]);
            }
            cables.add(new Cable(from[0], from[1], to[0], to[1]));
        }
        if (cables.isEmpty()) {
            throw new CommandFailure("there is no cable to plan with");
        }
        if (links.size() > MOST_NODES) {
            throw new CommandFailure(links.size() + " nodes are more than the " + MOST_NODES + " that a plan may have");
        }
        return new Cabling(List.copyOf(links.keySet()), cables);
    }

    private static String[] end(String text, String place, Map<String, Integer> links, TreeSet<String> used) {
        Matcher matcher = END.matcher(text);
        if (!matcher.matches()) {
            throw new CommandFailure(place + ": \"" + text + "\" is no end of a cable: write NODE or NODE:INTERFACE");
        }
        int number = links.merge(matcher.group(1), 1, Integer::sum);
        String nic = matcher.group(2) == null ? "link" + number : matcher.group(2);
        if (!used.add(matcher.group(1) + ":" + nic)) {
            throw new CommandFailure(place + ": " + nic + " of " + matcher.group(1) + " has a cable already");
        }
        return new String[] {matcher.group(1), nic};
    }

    /** The same with one more cable. */
    Cabling with(String one, String other) {
        List<Cable> more = new ArrayList<>(cables);
        more.add(new Cable(one, "new", other, "new"));
        return new Cabling(nodes, more);
    }
}
