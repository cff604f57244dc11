package trigon.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import picocli.CommandLine.TypeConversionException;
import trigon.config.setting.ConfigException;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** The texts with which commands fail. None is that of a Java exception. */
final class Failures {

    private Failures() {}

    /** A sentence for the user; an exception that nobody expects is a bug, and its stack trace goes into a file. */
    static String text(Throwable e) {
        return switch (e) {
            case CommandFailure _, ConfigException _ -> String.valueOf(e.getMessage());
            case IOException io -> UserFiles.explained(io);
            case UncheckedIOException io -> UserFiles.explained(Objects.requireNonNull(io.getCause()));
            case InterruptedException _ -> "interrupted";
            case OutOfMemoryError _ -> "there is not enough memory for this; give it less at once";
            default -> bug(e);
        };
    }

    private static String bug(Throwable e) {
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace, true));
        return "this command failed because of a bug in Trigon. Please report it with "
                + written(trace.toString()).map(Path::toString).orElse("this:\n" + trace)
                + "; docs/guide/troubleshooting.md of Trigon's sources says where";
    }

    private static Optional<Path> written(String trace) {
        try {
            return Optional.of(Files.writeString(Files.createTempFile("trigon-bug-", ".txt"), trace));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /** A path of the command line, for picocli, which would show the exception's name. */
    static Path path(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("a path is empty");
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new TypeConversionException(
                    "'%s' cannot be the name of a file here: %s; with LC_ALL=C.UTF-8 set, names may have all letters"
                            .formatted(text, e.getReason()));
        }
    }
}
