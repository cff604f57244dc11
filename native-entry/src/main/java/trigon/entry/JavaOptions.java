package trigon.entry;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The options that the user gives the JVM. It ignores those that it does not know, and says nothing. */
final class JavaOptions {

    private static final String VARIABLE = "TRIGON_JAVA_OPTS";

    private static final Pattern FLAG = Pattern.compile("(?<!\\S)['\"]?-XX:[+-]?(\\w+)");

    private JavaOptions() {}

    /**
     * A warning for each flag ({@code -XX:...}) that this JVM does not have. Takes some 10 ms if there are flags, and
     * nothing without.
     */
    static List<String> unknown(Map<String, String> environment) {
        List<String> warnings = new ArrayList<>();
        Matcher flags = FLAG.matcher(environment.getOrDefault(VARIABLE, ""));
        while (flags.find()) {
            String name = flags.group(1);
            if (!isKnown(name)) {
                warnings.add("the flag %s in %s has no effect: Java %d has no flag of that name; see java"
                                .formatted(name, VARIABLE, Runtime.version().feature())
                        + " -XX:+PrintFlagsFinal -version");
            }
        }
        return warnings;
    }

    private static boolean isKnown(String name) {
        try {
            return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                            .getVMOption(name)
                    != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
