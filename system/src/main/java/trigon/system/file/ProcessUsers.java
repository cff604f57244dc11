package trigon.system.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The users that processes run as, by their numbers. */
public final class ProcessUsers {

    public static final int ROOT = 0;

    private static final Path SELF = Path.of("/proc/self");
    private static final int EFFECTIVE = 1;

    private ProcessUsers() {}

    /** The user whose rights this process has. */
    public static int own() throws IOException {
        return of(SELF).get(EFFECTIVE);
    }

    /**
     * The real, effective and saved user of a process, and that for files. The owner of its folder does not say it:
     * that is root where a process lets nobody look into it.
     *
     * @param process its folder in {@code /proc}
     */
    public static List<Integer> of(Path process) throws IOException {
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("Uid:")) {
                return Arrays.stream(line.substring("Uid:".length()).strip().split("\\s+", 0))
                        .map(Integer::parseUnsignedInt)
                        .toList();
            }
        }
        throw new IOException(process + " does not say whose process it is");
    }

    /** Returns whether all that a process does, it does as that user. */
    public static boolean isOf(int user, Path process) throws IOException {
        return of(process).stream().allMatch(each -> each == user);
    }
}
