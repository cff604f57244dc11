package trigon.relay.mesh;

import trigon.stream.hop.HopDevices;

/**
 * A process's resources for relaying.
 *
 * @param hops what may carry circuits faster than TCP; stay the caller's
 * @param spins whether the relay's thread may look for more before it sleeps
 * @param localRank the process's number on its node, so that those of one node begin at different relays
 */
public record RelayResources(HopDevices hops, boolean spins, int localRank) {}
