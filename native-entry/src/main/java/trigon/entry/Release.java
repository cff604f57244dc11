package trigon.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Version and place of this Trigon.
 *
 * @param version as the installation's file {@code release} has it; "of unknown version" without that file
 * @param directory the installation; empty where the jars were started in another way
 */
record Release(String version, Optional<Path> directory) {

    private static final String KEY = "TRIGON_VERSION=";

    /** The installation whose entry library started this JVM, which the property {@code trigon.home} names. */
    static Release ofThisInstallation() {
        return Optional.ofNullable(System.getProperty("trigon.home"))
                .map(home -> of(Path.of(home)))
                .orElseGet(() -> new Release("of unknown version", Optional.empty()));
    }

    /** The installation in that directory. */
    static Release of(Path directory) {
        try {
            return new Release(
                    Files.readString(directory.resolve("release"))
                            .lines()
                            .filter(line -> line.startsWith(KEY))
                            .map(line -> line.substring(KEY.length()).replace("\"", ""))
                            .findFirst()
                            .orElse("of unknown version"),
                    Optional.of(directory));
        } catch (IOException e) {
            return new Release("of unknown version", Optional.of(directory));
        }
    }

    /** For example {@code Trigon 0.1.0 in /opt/trigon, Java 25.0.1}. */
    @Override
    public String toString() {
        return "Trigon %s%s, Java %s"
                .formatted(
                        version,
                        directory.map(path -> " in " + path).orElse(""),
                        Runtime.version().feature() + "." + Runtime.version().interim() + "."
                                + Runtime.version().update());
    }
}
