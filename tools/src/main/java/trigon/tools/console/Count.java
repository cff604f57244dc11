package trigon.tools.console;

/** Numbers with their nouns. */
public final class Count {

    private Count() {}

    /** For example {@code 1 cable} and {@code 2 cables}. */
    public static String of(long number, String noun) {
        return of(number, noun, noun + "s");
    }

    /** For nouns with another plural, such as {@code process}. */
    public static String of(long number, String one, String several) {
        return number + " " + (number == 1 ? one : several);
    }
}
