package trigon.tools.plan;

/** An option of the command that has a wrong value; the message names it and the rule. */
final class WrongOption extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String rule;

    WrongOption(String message) {
        super(message);
        this.rule = message;
    }

    @Override
    public String getMessage() {
        return rule;
    }
}
