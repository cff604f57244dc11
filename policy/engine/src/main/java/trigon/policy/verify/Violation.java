package trigon.policy.verify;

import trigon.policy.verdict.Rejection;
import trigon.policy.verdict.Rejection.Rule;

/** A rule is broken by the instruction at hand; becomes a {@link Rejection} once it is known where that is. */
final class Violation extends Exception {

    private static final long serialVersionUID = 1;

    private final Rule rule;

    Violation(Rule rule, String message) {
        super(message, null, false, false);
        this.rule = rule;
    }

    Rule rule() {
        return rule;
    }

    static void require(boolean condition, Rule rule, String otherwise) throws Violation {
        if (!condition) {
            throw new Violation(rule, otherwise);
        }
    }
}
