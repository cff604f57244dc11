package trigon.report.summary;

import java.util.Locale;

/** Times, sizes and shares as people read them. */
public final class Amounts {

    private Amounts() {}

    /** Nanoseconds, with three digits. */
    public static String time(long nanoseconds) {
        if (nanoseconds < 0) {
            return "-" + time(-nanoseconds);
        }
        if (nanoseconds < 1_000) {
            return nanoseconds + " ns";
        }
        if (nanoseconds < 1_000_000) {
            return digits(nanoseconds / 1e3) + " us";
        }
        return nanoseconds < 1_000_000_000 ? digits(nanoseconds / 1e6) + " ms" : digits(nanoseconds / 1e9) + " s";
    }

    private static String digits(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }

    /** Bytes, by powers of 1024 where it is one. */
    public static String size(long bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return (value == Math.rint(value) ? Long.toString((long) value) : digits(value)) + " " + units[unit];
    }

    /** Error bound of a one-way time, in nanoseconds: 0 on one clock, negative if unknown. */
    public static String bound(long nanoseconds) {
        return nanoseconds == 0 ? "same" : nanoseconds < 0 ? "unknown" : "±" + time(nanoseconds);
    }

    /** A part of a whole, in percent. */
    public static String share(long part, long whole) {
        if (whole <= 0) {
            return "0 %";
        }
        double percent = 100.0 * part / whole;
        return String.format(Locale.ROOT, percent > 0 && percent < 10 ? "%.1f %%" : "%.0f %%", percent);
    }
}
