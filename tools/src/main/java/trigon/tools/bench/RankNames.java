package trigon.tools.bench;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import trigon.tools.console.JsonObject;

/**
 * What ranks are called: by their nodes if these are known, else by their numbers.
 *
 * @param count of the ranks
 * @param nodes by rank; empty if they are not known
 */
record RankNames(int count, List<String> nodes) {

    private static final Pattern PEER = Pattern.compile("\\bpeer (\\S+)");
    private static final Pattern OWN_ADDRESS = Pattern.compile(" via \\S+ ([^/\\s]+)/\\d+");

    RankNames {
        nodes = List.copyOf(nodes);
    }

    /** For example {@code a and b}, or {@code all 3}. */
    String of(List<Integer> ranks) {
        if (ranks.size() == count && count > 2) {
            return "all " + count;
        }
        return ranks.stream()
                .map(rank -> nodes.isEmpty() ? Integer.toString(rank) : nodes.get(rank))
                .collect(Collectors.joining(" and "));
    }

    /** The nodes by their addresses, as their own results have them. */
    static Map<String, String> byAddress(List<JsonObject> others) {
        Map<String, String> nodes = new TreeMap<>();
        for (JsonObject each : others) {
            for (String way : each.texts("ways")) {
                Matcher address = OWN_ADDRESS.matcher(way);
                while (address.find()) {
                    nodes.put(address.group(1), each.text("host"));
                }
            }
        }
        return nodes;
    }

    /** A line of the log, with the peer's name. */
    static String readable(String way, Map<String, String> nodes) {
        return PEER.matcher(way).replaceAll(peer -> {
            String node = nodes.get(peer.group(1));
            return Matcher.quoteReplacement(node == null ? peer.group() : node + " (" + peer.group(1) + ")");
        });
    }
}
