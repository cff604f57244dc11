package trigon.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import trigon.config.setting.Excerpt;
import trigon.system.NearestName;

/**
 * A variable of the environment that looks like a setting and is none.
 *
 * @param name as it is in the environment
 * @param meant the setting that has nearly this name; empty if none has
 */
public record UnknownVariable(String name, Optional<String> meant) {

    private static final String PREFIX = "TRIGON_";

    /**
     * Finds, of these names, those that begin as settings do, and those that differ from a setting's by one character.
     */
    public static List<UnknownVariable> among(Collection<String> names) {
        List<String> known =
                Settings.all().stream().flatMap(key -> key.variable().stream()).toList();
        List<UnknownVariable> unknown = new ArrayList<>();
        for (String name : names.stream().sorted().toList()) {
            if (known.contains(name)) {
                continue;
            }
            if (name.toUpperCase(Locale.ROOT).startsWith(PREFIX)) {
                unknown.add(new UnknownVariable(name, NearestName.to(name, known)));
            } else {
                NearestName.within(name, known, 1)
                        .ifPresent(meant -> unknown.add(new UnknownVariable(name, Optional.of(meant))));
            }
        }
        return List.copyOf(unknown);
    }

    /** A warning for the user. */
    @Override
    public String toString() {
        return "the environment variable %s is not a setting of Trigon and has no effect%s"
                .formatted(
                        Excerpt.of(name),
                        meant.map(known -> "; did you mean " + known + "?").orElse(""));
    }
}
