package trigon.transport.path;

/**
 * Needs of the protocol that will use a path.
 *
 * @param sendQueueDepth send work requests that may be outstanding
 * @param receiveQueueDepth receive work requests that may be outstanding
 * @param inlineBytes bytes that a send work request may carry in itself; the device may allow less
 * @param ringBytes length of the ring by which the receiver says where messages may go; 0: there is none
 */
public record PathCapacity(int sendQueueDepth, int receiveQueueDepth, int inlineBytes, int ringBytes) {}
