package trigon.tools.bench;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes in bytes, as people write them: {@code 64K}, {@code 1M}, {@code 4096}. */
final class Sizes {

    static final long MIN = 4;
    static final long MAX = 1L << 30;

    private static final Pattern SIZE = Pattern.compile("(\\d{1,10})([KMG]?)");

    private Sizes() {}

    /** Empty if it is none, or too small or large. */
    static OptionalLong parse(String text) {
        Matcher matcher = SIZE.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        int shift = switch (matcher.group(2)) {
            case "K" -> 10;
            case "M" -> 20;
            case "G" -> 30;
            default -> 0;
        };
        long bytes = Long.parseLong(matcher.group(1)) << shift;
        return bytes < MIN || bytes > MAX || bytes % MIN != 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
    }

    static String text(long bytes) {
        if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
}
