package trigon.testsupport;

import java.util.List;
import java.util.Random;

/**
 * Rows of arguments, of which a run takes one, drawn by {@link Seed}, and all with {@code -Dtrigon.sampled=all}, which
 * the Maven profile "thorough" sets.
 */
public final class Samples {

    private static final boolean ALL = System.getProperty("trigon.sampled", "").equals("all");

    private Samples() {}

    /** One of these rows, or all. */
    public static <T> List<T> of(List<T> rows) {
        return ALL ? rows : List.of(rows.get(new Random(Seed.next()).nextInt(rows.size())));
    }
}
