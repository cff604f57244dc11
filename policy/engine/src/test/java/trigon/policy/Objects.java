package trigon.policy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The objects that clang made of the examples and of the tests' programs. */
public final class Objects {

    public static final Path EXAMPLES = Path.of("..", "examples");
    public static final Path PROGRAMS = Path.of("src", "test", "c");

    private Objects() {}

    public static byte[] example(String name) throws IOException {
        return Files.readAllBytes(EXAMPLES.resolve(name + ".o"));
    }

    public static byte[] program(String name) throws IOException {
        return Files.readAllBytes(PROGRAMS.resolve(name + ".o"));
    }

    /** Names without the suffix, sorted. */
    public static List<String> in(Path directory, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(prefix) && name.endsWith(".o"))
                    .map(name -> name.substring(0, name.length() - 2))
                    .sorted()
                    .toList();
        }
    }
}
