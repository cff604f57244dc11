package trigon.config.setting;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The constants of an enum as they are written in the file and in the environment. */
final class EnumWords {

    private EnumWords() {}

    /** The word for a constant. */
    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** All words, for messages. */
    static String all(Enum<?>[] constants) {
        return Arrays.stream(constants).map(EnumWords::of).collect(Collectors.joining(", "));
    }

    /** The constant of that word. */
    static <E extends Enum<E>> Optional<E> find(E[] constants, String word) {
        return Arrays.stream(constants)
                .filter(constant -> of(constant).equals(word))
                .findFirst();
    }
}
