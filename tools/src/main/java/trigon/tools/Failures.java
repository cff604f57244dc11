package trigon.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;
import trigon.config.setting.ConfigException;
import trigon.system.NearestName;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** The texts with which commands fail. None is that of a Java exception. */
final class Failures {

    /** The text of picocli's own help command, which has no exception type for it. */
    private static final Pattern UNKNOWN_OF_HELP = Pattern.compile("Unknown subcommand '(.*)'\\.?", Pattern.DOTALL);

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

    /** Text about a word in a command's place that is not a command; empty if the command line has another fault. */
    static Optional<String> unknownCommand(ParameterException e) {
        CommandLine at = e.getCommandLine();
        Matcher helped = UNKNOWN_OF_HELP.matcher(String.valueOf(e.getMessage()));
        if (helped.matches()) {
            return Optional.of(unknownCommand(helped.group(1), at));
        }
        return Optional.of(e)
                .filter(UnmatchedArgumentException.class::isInstance)
                .flatMap(each -> ((UnmatchedArgumentException) each)
                        .getUnmatched().stream().findFirst())
                .filter(word -> !word.startsWith("-") && !at.getSubcommands().isEmpty())
                .map(word -> unknownCommand(word, at));
    }

    private static String unknownCommand(String word, CommandLine at) {
        List<String> known = at.getSubcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(each -> !each.usageMessage().hidden())
                .map(CommandSpec::name)
                .toList();
        Stream<String> begun = known.stream().filter(each -> !word.isEmpty() && each.startsWith(word));
        String near = Stream.concat(NearestName.to(word, known).stream(), begun)
                .distinct()
                .collect(Collectors.joining(" or "));
        return "there is no command \"" + word + "\"" + (near.isEmpty() ? ";" : "; did you mean " + near + "?");
    }
}
