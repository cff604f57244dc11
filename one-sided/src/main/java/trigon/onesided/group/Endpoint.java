package trigon.onesided.group;

import trigon.nccl.NetPlugin;

/**
 * The end at which a rank's connections of a group are made.
 *
 * @param net whose they are
 * @param context the group's own, of the transport's; closed with the group
 * @param device number of the transport's device
 */
public record Endpoint(NetPlugin net, long context, int device) {}
