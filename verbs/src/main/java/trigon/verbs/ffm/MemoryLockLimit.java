package trigon.verbs.ffm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The limit on the memory that the process may lock: RLIMIT_MEMLOCK as {@code proc_pid_limits(5)} shows it. */
final class MemoryLockLimit {

    private static final Logger LOG = LoggerFactory.getLogger(MemoryLockLimit.class);
    /** The kernel's word for no limit. */
    static final String UNLIMITED = "unlimited";

    private static final String ROW = "Max locked memory";

    private MemoryLockLimit() {}

    /** The soft limit for a message, for example {@code 8388608 bytes}, {@code unlimited} or {@code unknown}. */
    static String ofThisProcess() {
        try {
            return parse(Files.readAllLines(Path.of("/proc/self/limits")));
        } catch (IOException e) {
            LOG.debug("the limits of the process cannot be read", e);
            return "unknown";
        }
    }

    static String parse(List<String> limits) {
        for (String line : limits) {
            if (line.startsWith(ROW)) {
                // the row's name is followed by soft limit, hard limit and unit
                String soft = line.substring(ROW.length()).trim().split(" +", 2)[0];
                return soft.equals(UNLIMITED) ? soft : soft + " bytes";
            }
        }
        return "unknown";
    }
}
