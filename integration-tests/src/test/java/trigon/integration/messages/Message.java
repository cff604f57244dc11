package trigon.integration.messages;

/**
 * Something that Trigon may say.
 *
 * @param text in one line, with names in angle brackets for what is only known at run time
 */
record Message(Kind kind, String text) {

    /** How it reaches its reader. */
    enum Kind {
        INFO,
        WARN,
        ERROR,

        /** An exception's text. */
        FAILS,

        /** From an annotation of the command line's. */
        HELP,

        /** Any other sentence in the code: a finding, a remedy, a rule, or a part of a message. */
        TEXT
    }

    @Override
    public String toString() {
        return "%-5s %s".formatted(kind, text);
    }
}
