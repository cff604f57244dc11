package trigon.transport.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The transitions of the diagrams in the design page on failover: {@code FROM --> TO: event}, without what begins. */
public final class StateDiagram {

    private static final Path PAGE = Path.of("../docs/design/failover.md");
    private static final Pattern BLOCK = Pattern.compile("(?s)`(\\w+)`\\.[^#]*?```mermaid\n(.*?)```");
    private static final Pattern TRANSITION = Pattern.compile("(?m)^ *(\\w+ --> \\w+(?:: \\w+)?)$");

    private StateDiagram() {}

    /** Of a class, by its simple name. */
    public static Set<String> transitions(String of) throws IOException {
        String block = BLOCK.matcher(Files.readString(PAGE))
                .results()
                .filter(result -> result.group(1).equals(of))
                .map(result -> result.group(2))
                .findFirst()
                .orElseThrow(() -> new AssertionError(PAGE + " has no diagram of " + of));
        return TRANSITION
                .matcher(block)
                .results()
                .map(StateDiagram::transition)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String transition(MatchResult result) {
        return result.group(1);
    }
}
