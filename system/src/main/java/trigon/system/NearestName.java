package trigon.system;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds what was meant by a misspelt name. */
public final class NearestName {

    private static final int LONGEST = 64;

    private NearestName() {}

    /** The known name nearest to this one; empty if none is near. */
    public static Optional<String> to(String name, Collection<String> known) {
        return nearest(name, known).filter(candidate -> distance(name, candidate) <= 1 + candidate.length() / 4);
    }

    /** The known name nearest to this one, if it takes no more edits than that to make one of the other. */
    public static Optional<String> within(String name, Collection<String> known, int edits) {
        return nearest(name, known).filter(candidate -> distance(name, candidate) <= edits);
    }

    private static Optional<String> nearest(String name, Collection<String> known) {
        return name.length() > LONGEST
                ? Optional.empty()
                : known.stream().min(Comparator.comparingInt(candidate -> distance(name, candidate)));
    }

    /** Levenshtein's: how many characters to insert, remove or replace; letter case does not count. */
    private static int distance(String from, String to) {
        String a = from.toLowerCase(Locale.ROOT);
        String b = to.toLowerCase(Locale.ROOT);
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int above = row[j];
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(above, row[j - 1]) + 1);
                diagonal = above;
            }
        }
        return row[b.length()];
    }
}
