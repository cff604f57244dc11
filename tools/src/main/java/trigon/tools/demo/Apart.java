package trigon.tools.demo;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A command in namespaces of its own, for mounts and networks. They go with the processes in them. */
final class Apart {

    private static final File NOTHING = new File("/dev/null");

    private Apart() {}

    /**
     * The words that run a command there: as root, or as a user who is root there alone.
     *
     * @param setup for sh: comes before the command
     * @return empty if this user cannot make such namespaces, or the setup fails in them
     */
    static Optional<List<String>> by(String setup) throws InterruptedException {
        for (String kind : List.of("-mn", "-Urmn")) {
            List<String> words = List.of("unshare", kind, "sh", "-c", setup + " && exec \"$@\"", "sh");
            try {
                if (wait(new ProcessBuilder(joined(words, List.of("true")))
                                .redirectErrorStream(true)
                                .redirectOutput(NOTHING))
                        == 0) {
                    return Optional.of(words);
                }
            } catch (IOException _) {
                return Optional.empty(); // no unshare
            }
        }
        return Optional.empty();
    }

    /** Runs a command whose input and output are this process's, and returns its exit status. */
    static int run(List<String> words, List<String> command) throws IOException, InterruptedException {
        return wait(new ProcessBuilder(joined(words, command)).inheritIO());
    }

    private static int wait(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.start();
        try {
            return process.waitFor();
        } finally {
            process.destroy();
        }
    }

    private static List<String> joined(List<String> words, List<String> command) {
        return Stream.concat(words.stream(), command.stream()).toList();
    }
}
