package trigon.tools;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;
import trigon.system.NearestName;

/**
 * A word in a command's place that is not a command.
 *
 * @param word as typed
 * @param near commands that may have been meant
 */
record UnknownCommand(String word, List<String> near) {

    /** The text of picocli's own help command, which has no exception type for it. */
    private static final Pattern OF_HELP = Pattern.compile("Unknown subcommand '(.*)'\\.?", Pattern.DOTALL);

    UnknownCommand {
        near = List.copyOf(near);
    }

    /** The unknown word; empty if the command line has another fault. */
    static Optional<UnknownCommand> of(ParameterException e) {
        CommandLine at = e.getCommandLine();
        Matcher helped = OF_HELP.matcher(String.valueOf(e.getMessage()));
        if (helped.matches()) {
            return Optional.of(of(helped.group(1), at));
        }
        if (!(e instanceof UnmatchedArgumentException unmatched)
                || at.getSubcommands().isEmpty()
                || unmatched.getUnmatched().isEmpty()
                || unmatched.getUnmatched().getFirst().startsWith("-")) {
            return Optional.empty();
        }
        return Optional.of(of(unmatched.getUnmatched().getFirst(), at));
    }

    private static UnknownCommand of(String word, CommandLine of) {
        List<String> known = of.getSubcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(each -> !each.usageMessage().hidden())
                .map(CommandSpec::name)
                .toList();
        Stream<String> begun = known.stream().filter(each -> !word.isEmpty() && each.startsWith(word));
        return new UnknownCommand(
                word,
                Stream.concat(NearestName.to(word, known).stream(), begun)
                        .distinct()
                        .toList());
    }

    @Override
    public String toString() {
        String meant = near.isEmpty() ? ";" : "; did you mean " + String.join(" or ", near) + "?";
        return "there is no command \"" + word + "\"" + meant;
    }
}
