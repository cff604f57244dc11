package trigon.entry.host;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Compares the layouts and numbers that C was compiled with to those that Java was written for. */
public final class AbiCheck {

    private AbiCheck() {}

    /**
     * Checks all facts that Java depends on.
     *
     * @param expected what Java was written for, by name
     * @param facts what C was compiled with, by name
     * @throws InstallationException naming each difference with both numbers
     */
    public static void check(Map<String, Long> expected, Map<String, Long> facts) {
        List<String> differences = new ArrayList<>();
        expected.forEach((name, ours) -> {
            Long theirs = facts.get(name);
            if (theirs == null) {
                differences.add("%s is %d in Java and unknown in C".formatted(name, ours));
            } else if (!theirs.equals(ours)) {
                differences.add("%s is %d in Java and %d in C".formatted(name, ours, theirs));
            }
        });
        if (!differences.isEmpty()) {
            throw new InstallationException(
                    "libnccl-net-trigon.so and the jars do not match (%s); install both from one package"
                            .formatted(String.join(", ", differences)));
        }
    }
}
