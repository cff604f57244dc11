package trigon.verbs;

/** An asynchronous event of a device, acknowledged. */
public sealed interface AsyncEvent {

    /** The type of the event; the record names its object. */
    AsyncEventType type();

    /** About a queue pair, which may have been closed since. */
    record OfQueuePair(AsyncEventType type, QueuePair queuePair) implements AsyncEvent {}

    /** About a completion queue, which may have been closed since. */
    record OfCompletionQueue(AsyncEventType type, CompletionQueue completionQueue) implements AsyncEvent {}

    /** About a port, numbered from 1. */
    record OfPort(AsyncEventType type, int port) implements AsyncEvent {}

    /** About the device as a whole, or about what is not used here. */
    record OfDevice(AsyncEventType type) implements AsyncEvent {}
}
