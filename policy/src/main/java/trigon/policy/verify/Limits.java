package trigon.policy.verify;

/**
 * How much a program may cost the verifier. Counts, not times, so that the same program has the same verdict
 * everywhere.
 *
 * @param explored instructions to look at, over all paths
 * @param keptStates states to remember in all
 * @param keptPerSlot states to remember for one instruction
 */
public record Limits(int explored, int keptStates, int keptPerSlot) {

    /** A second and some ten MiB at worst. */
    public static final Limits DEFAULT = new Limits(200_000, 8_192, 48);
}
