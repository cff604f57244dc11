package trigon.tools.enable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.NcclFile;
import trigon.cluster.machine.NcclFile.Line;

/**
 * Settings of others for the variables of Trigon's lines: the environment wins over a user's file, which wins over that
 * of all users, and the first line of a file wins. Pure.
 *
 * @param environment of this shell
 * @param files that NCCL or RCCL reads
 * @param system the files of all users
 * @param own Trigon's variables
 */
record OtherSettings(Map<String, String> environment, List<NcclFile> files, Set<Path> system, Map<String, String> own) {

    static OtherSettings of(Machine machine, JobSettings settings) {
        return new OtherSettings(
                machine.environment(),
                Stream.concat(NcclFile.of(machine).stream(), NcclFile.ofRccl(machine).stream())
                        .toList(),
                Set.of(machine.file(NcclFile.OF_SYSTEM), machine.file(NcclFile.OF_RCCL)),
                settings.variables());
    }

    /** Those of this shell, a line each. */
    List<String> ofEnvironment() {
        return own.entrySet().stream()
                .filter(each -> !environment
                        .getOrDefault(each.getKey(), each.getValue())
                        .equals(each.getValue()))
                .map(each -> "%s=%s in the environment of this shell wins: unset it"
                        .formatted(each.getKey(), environment.get(each.getKey())))
                .toList();
    }

    /**
     * Those of files, a sentence each.
     *
     * @param target the file that gets Trigon's lines
     * @param firstLine the number of their first line there
     */
    List<String> ofFiles(Path target, int firstLine) {
        List<String> found = new ArrayList<>();
        boolean ofUser = !system.contains(target);
        boolean ofRccl = target.getFileName().toString().endsWith("rccl.conf");
        String named = environment.getOrDefault(NcclFile.VARIABLE, "");
        if (ofUser && !named.isEmpty()) {
            found.add("%s=%s in the environment of this shell: %s reads that file, and not %s"
                    .formatted(
                            NcclFile.VARIABLE, named, ofRccl ? "RCCL after ROCm 6.2" : "NCCL 2.23 and later", target));
        }
        for (NcclFile file : files) {
            boolean same = file.path().equals(target);
            boolean ofLibrary = NcclFile.isOfRccl(file.readers()) == ofRccl;
            boolean readToo = ofLibrary && (same || !ofUser || system.contains(file.path()));
            for (Line line : readToo ? file.lines() : List.<Line>of()) {
                String value = own.get(line.name());
                if (value != null && !value.equals(line.value())) {
                    boolean wins = same ? line.number() < firstLine : !ofUser;
                    found.add("%s:%d: %s=%s %s"
                            .formatted(
                                    file.path(),
                                    line.number(),
                                    line.name(),
                                    line.value(),
                                    wins ? "wins, and stays" : "loses, and stays"));
                }
            }
        }
        return found;
    }
}
