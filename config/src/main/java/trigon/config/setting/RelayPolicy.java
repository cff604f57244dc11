package trigon.config.setting;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A node's part in relays.
 *
 * @param serves whether it has; else it neither relays nor is relayed for
 * @param onlyFor the nodes at one of a circuit's ends, by name; empty: any
 */
public record RelayPolicy(boolean serves, Set<String> onlyFor) {

    /** Relays for every pair of nodes. */
    public static final RelayPolicy ON = new RelayPolicy(true, Set.of());

    /** Relays for no one, and is not relayed for: nothing is opened or announced. */
    public static final RelayPolicy OFF = new RelayPolicy(false, Set.of());

    private static final String ONLY_FOR = "only-for";

    public RelayPolicy {
        onlyFor = Set.copyOf(onlyFor);
    }

    /** {@code on}, {@code off} or {@code only-for [b, c]}. */
    static Optional<RelayPolicy> parse(String text) {
        String trimmed = text.strip();
        if (trimmed.equals("on")) {
            return Optional.of(ON);
        }
        if (trimmed.equals("off")) {
            return Optional.of(OFF);
        }
        if (!trimmed.startsWith(ONLY_FOR)) {
            return Optional.empty();
        }
        String list = trimmed.substring(ONLY_FOR.length()).strip();
        if (list.startsWith("[") && list.endsWith("]")) {
            list = list.substring(1, list.length() - 1);
        }
        Set<String> nodes = new LinkedHashSet<>(Arrays.asList(list.strip().split("[,\\s]+")));
        nodes.remove("");
        return nodes.isEmpty() ? Optional.empty() : Optional.of(new RelayPolicy(true, nodes));
    }

    /** As it is written. */
    @Override
    public String toString() {
        if (onlyFor.isEmpty()) {
            return serves ? "on" : "off";
        }
        return onlyFor.stream().sorted().collect(Collectors.joining(", ", ONLY_FOR + " [", "]"));
    }
}
