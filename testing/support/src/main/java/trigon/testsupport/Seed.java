package trigon.testsupport;

/** The seed of random tests. */
public final class Seed {

    private static final String PROPERTY = "trigon.seed";

    private Seed() {}

    /** A new one, or that of the system property {@value #PROPERTY}; printed, so that a failed run can be repeated. */
    public static long next() {
        long seed = Long.getLong(PROPERTY, System.nanoTime());
        System.err.println("seed " + seed + ", to be repeated with -D" + PROPERTY + "=" + seed);
        return seed;
    }
}
