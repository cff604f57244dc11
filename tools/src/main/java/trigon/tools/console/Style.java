package trigon.tools.console;

/** Look of a text in a terminal, in the colours of ECMA-48, which light and dark terminals show legibly. */
public enum Style {
    GOOD("32"),
    WARNING("33"),
    BAD("31"),
    STRONG("1"),
    FAINT("2");

    static final String END = "\u001b[0m";

    private final String code;

    Style(String code) {
        this.code = code;
    }

    String begin() {
        return "\u001b[" + code + "m";
    }
}
