package trigon.transport.connect;

import trigon.handshake.message.RemoteMemory;
import trigon.verbs.QueuePairEndpoint;

/**
 * A peer's facts about its end of a path.
 *
 * @param endpoint its queue pair
 * @param memory what this end may write there
 * @param maxMessageBytes the longest message of its port
 * @param speedMbps of its link, as far as it is known
 */
public record PeerEnd(QueuePairEndpoint endpoint, RemoteMemory memory, long maxMessageBytes, int speedMbps) {}
