package trigon.tools.demo;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A command in namespaces of its own, for mounts and networks. They go with the processes in them. */
final class Apart {

    private Apart() {}

    /**
     * What runs a command there: by root, or by a user who is root there alone.
     *
     * @param setup for sh: comes before the command
     * @return words that come before the command; empty if this user cannot make such namespaces
     */
    static Optional<List<String>> by(String setup) throws InterruptedException {
        for (String kind : List.of("-mn", "-Urmn")) {
            List<String> words = List.of("unshare", kind, "sh", "-c", setup + " && exec \"$@\"", "sh");
            if (Program.succeeds(joined(words, List.of("true")))) {
                return Optional.of(words);
            }
        }
        return Optional.empty();
    }

    /** Runs a command whose input and output are this process's, and returns its exit status. */
    static int run(List<String> words, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(joined(words, command)).inheritIO().start();
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
