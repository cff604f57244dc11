package trigon.cluster.machine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A file from which NCCL or RCCL sets variables that are not set yet: each line is {@code setenv(name, value, 0)},
 * without quotes or trimming. Source: NCCL's src/misc/param.cc, 2.20.5 to 2.30.7, and RCCL's. Immutable.
 *
 * @param path of the file
 * @param readers the versions of NCCL, or of RCCL, that read it; empty for all of NCCL
 * @param lines that set something
 */
public record NcclFile(Path path, String readers, List<Line> lines) {

    /** NCCL's variable for a file in the place of {@code ~/.nccl.conf}, from 2.23 on. */
    public static final String VARIABLE = "NCCL_CONF_FILE";

    /** The name of a user's file, in the home folder. */
    public static final String OF_USER = ".nccl.conf";

    /** The file of all users. */
    public static final String OF_SYSTEM = "etc/nccl.conf";

    /** RCCL's file of all users; a user's is called so with a dot before it. */
    public static final String OF_RCCL = "etc/rccl.conf";

    private static final String RCCL = "RCCL";

    /** NCCL cuts longer names and values. */
    public static final int MAX_BYTES = 1023;

    /**
     * A line.
     *
     * @param number from 1
     */
    public record Line(int number, String name, String value) {}

    public NcclFile {
        lines = List.copyOf(lines);
    }

    /** Reads those that are there, the first one first: of two lines for a variable, the first one counts. */
    public static List<NcclFile> of(Machine machine) {
        List<NcclFile> files = new ArrayList<>();
        String named = machine.environment().getOrDefault(VARIABLE, "");
        Optional<Path> ofEntry = machine.passwordHome();
        Optional<Path> ofVariable = homeVariable(machine);
        if (!named.isEmpty()) {
            add(files, Path.of(named), "NCCL 2.23 and later");
            ofEntry.ifPresent(home -> add(files, home.resolve(OF_USER), "NCCL before 2.23"));
        } else if (ofEntry.isEmpty() || ofVariable.isEmpty() || ofEntry.equals(ofVariable)) {
            ofEntry.or(() -> ofVariable).ifPresent(home -> add(files, home.resolve(OF_USER), ""));
        } else {
            add(files, ofVariable.get().resolve(OF_USER), "NCCL 2.30 and later");
            add(files, ofEntry.get().resolve(OF_USER), "NCCL before 2.30");
        }
        add(files, machine.file(OF_SYSTEM), "");
        return files;
    }

    /**
     * Reads those of RCCL, the first one first. A named file, which RCCL reads after ROCm 6.2, is among those of NCCL.
     */
    public static List<NcclFile> ofRccl(Machine machine) {
        List<NcclFile> files = new ArrayList<>();
        boolean isNamed = !machine.environment().getOrDefault(VARIABLE, "").isEmpty();
        homes(machine).forEach(home -> add(files, home.resolve(".rccl.conf"), isNamed ? RCCL + " of ROCm 6.2" : RCCL));
        add(files, machine.file(OF_RCCL), RCCL);
        return files;
    }

    /** Tells whether these readers are of RCCL. */
    public static boolean isOfRccl(String readers) {
        return readers.startsWith(RCCL);
    }

    private static Optional<Path> homeVariable(Machine machine) {
        return Optional.of(machine.environment().getOrDefault("HOME", ""))
                .filter(home -> home.startsWith("/"))
                .map(Path::of);
    }

    /** The home folders in which versions of NCCL look for a user's file: of the password entry, and of HOME. */
    public static Set<Path> homes(Machine machine) {
        Set<Path> homes = new LinkedHashSet<>();
        machine.passwordHome().ifPresent(homes::add);
        homeVariable(machine).ifPresent(homes::add);
        return homes;
    }

    private static void add(List<NcclFile> files, Path path, String readers) {
        Machine.text(path).ifPresent(text -> files.add(new NcclFile(path, readers, lines(text))));
    }

    /** Lines of a file's text that set something. */
    public static List<Line> lines(String text) {
        List<Line> lines = new ArrayList<>();
        String[] all = text.split("\n", -1);
        for (int i = 0; i < all.length; i++) {
            String line = all[i].endsWith("\r") ? all[i].substring(0, all[i].length() - 1) : all[i];
            int equals = line.indexOf('=');
            if (equals > 0 && !line.startsWith("#")) {
                lines.add(new Line(i + 1, line.substring(0, equals), line.substring(equals + 1)));
            }
        }
        return lines;
    }
}
