package trigon.transport.resume;

/** What a simulated session does wrong on purpose. */
enum Mutation {
    NONE,
    RECEIVER_DOES_NOT_FENCE,
    COUNT_OFF_BY_ONE,
    RING_USED_AGAIN,
    COPY_DROPPED_WHEN_SENT,
    LANDS_UNASKED
}
