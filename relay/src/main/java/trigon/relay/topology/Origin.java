package trigon.relay.topology;

/**
 * The announcing process.
 *
 * @param instance a random number of this process
 * @param node what the node is told apart by
 * @param name of the node
 */
public record Origin(long instance, long node, String name) {}
