package trigon.policy.verify;

/**
 * The verifier's budget for a program. Counts, not times, so that the same program has the same verdict everywhere.
 *
 * @param explored instructions to look at, over all paths
 * @param keptStates states to remember in all, of those looked at and of those to be looked at
 * @param compared states to compare with others, over all paths
 */
public record VerifierLimits(int explored, int keptStates, int compared) {

    /** A second and some ten MiB at worst. */
    public static final VerifierLimits DEFAULT = new VerifierLimits(200_000, 8_192, 2_000_000);
}
