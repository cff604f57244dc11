package trigon.config.file;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import trigon.config.PluginConfig;
import trigon.config.setting.ConfigException;

/** A configuration file of a test. */
public record TestFile(Path path) {

    public static TestFile of(Path directory, String text) {
        return of(directory, text.getBytes(StandardCharsets.UTF_8));
    }

    public static TestFile of(Path directory, byte[] content) {
        try {
            return new TestFile(Files.write(directory.resolve("trigon.yaml"), content));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What node {@code a} makes of it. */
    public PluginConfig load() {
        return ConfigLoader.load(Map.of("TRIGON_CONFIG", path.toString()), "a");
    }

    /** The message of the error that it is; fails if it is none. */
    public String error() {
        ConfigException error = catchThrowableOfType(ConfigException.class, this::load);
        if (error == null) {
            throw new AssertionError("loaded without an error");
        }
        return String.valueOf(error.getMessage());
    }
}
