package trigon.integration.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** The project's own text files: what is built, kept or generated, and hidden folders but two, are left out. */
public final class ProjectFiles {

    public static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    private static final Set<String> NOT_OURS = Set.of("target", "generated");
    private static final Set<String> HIDDEN_OURS = Set.of(".ci", ".mvn");

    private ProjectFiles() {}

    /** Those that a rule is for, with their texts. */
    public static List<TextFile> matching(Predicate<Path> wanted) {
        List<TextFile> found = new ArrayList<>();
        try {
            Files.walkFileTree(PROJECT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                    String name = directory.getFileName().toString();
                    boolean hidden = name.startsWith(".") && !HIDDEN_OURS.contains(name);
                    return NOT_OURS.contains(name) || hidden ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    if (attributes.isRegularFile() && wanted.test(file)) {
                        found.add(new TextFile(PROJECT.relativize(file).toString(), Files.readString(file)));
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return List.copyOf(found);
    }

    public static String textOf(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A file.
     *
     * @param path from the project's root
     */
    public record TextFile(String path, String text) {}
}
