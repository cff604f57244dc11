package trigon.config;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A configuration file of a test. */
record TestFile(Path path) {

    static TestFile of(Path directory, String text) {
        return of(directory, text.getBytes(StandardCharsets.UTF_8));
    }

    static TestFile of(Path directory, byte[] content) {
        try {
            return new TestFile(Files.write(directory.resolve("trigon.yaml"), content));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What node {@code a} makes of it. */
    PluginConfig load() {
        return ConfigLoader.load(Map.of("TRIGON_CONFIG", path.toString()), "a");
    }

    /** The message of the error that it is; fails if it is none. */
    String error() {
        ConfigException error = catchThrowableOfType(ConfigException.class, this::load);
        if (error == null) {
            throw new AssertionError("loaded without an error");
        }
        return String.valueOf(error.getMessage());
    }
}
