package trigon.benchmarks;

import java.util.Locale;

/**
 * What something may cost, and what it costs.
 *
 * @param what in words
 * @param measured in the unit
 * @param limit in the unit
 * @param unit of both
 * @param atLeast whether the limit is a floor and not a ceiling
 */
record Budget(String what, double measured, double limit, String unit, boolean atLeast) {

    static Budget atMost(String what, double measured, double limit, String unit) {
        return new Budget(what, measured, limit, unit, false);
    }

    static Budget atLeast(String what, double measured, double limit, String unit) {
        return new Budget(what, measured, limit, unit, true);
    }

    boolean isMet() {
        return atLeast ? measured >= limit : measured <= limit;
    }

    /** A row of a table in Markdown. */
    String row() {
        return "| %s | %s %s | %s %s %s | %s |"
                .formatted(
                        what,
                        number(measured),
                        unit,
                        atLeast ? "at least" : "at most",
                        number(limit),
                        unit,
                        isMet() ? "yes" : "**no**");
    }

    /** With as many places as are worth reading; nothing for what was not measured. */
    static String number(double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        String format = Math.abs(value) >= 100 ? "%.0f" : Math.abs(value) >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}
