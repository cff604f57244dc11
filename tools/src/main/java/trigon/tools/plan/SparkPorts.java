package trigon.tools.plan;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Interface names of a DGX Spark's ConnectX-7, for machines that are known to be one: other machines have such names,
 * too. Each of the two ports has two functions, on different PCIe links; each link carries one function of either port.
 */
final class SparkPorts {

    /** First functions of the ports. */
    static final List<String> NAMES = List.of("enp1s0f0np0", "enp1s0f1np1");

    private static final String FIRST = "p1";
    private static final String SECOND = "P2p1";
    private static final Pattern NAME = Pattern.compile("en(" + FIRST + "|" + SECOND + ")(s0f([01])(?:np[01])?)");

    private SparkPorts() {}

    /** The interface of the same port's other function; empty for an unknown name. */
    static Optional<String> twin(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches()
                ? Optional.of("en" + (matcher.group(1).equals(FIRST) ? SECOND : FIRST) + matcher.group(2))
                : Optional.empty();
    }

    /** The number of its port, 0 or 1; empty for an unknown name. */
    static Optional<Integer> port(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? Optional.of(Integer.parseInt(matcher.group(3))) : Optional.empty();
    }

    /** Its PCIe link, 0 or 1; empty for an unknown name. */
    static Optional<String> pcieLink(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
    }
}
