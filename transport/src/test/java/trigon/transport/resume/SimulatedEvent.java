package trigon.transport.resume;

/** What may happen next to a simulated session. Those from {@link #LOSE_PACKETS} on are faults. */
enum SimulatedEvent {
    SEND,
    TELL_SENT,
    RECEIVE,
    TELL_RECEIVED,
    POLL_SENDER,
    POLL_RECEIVER,
    LAND,
    ACKNOWLEDGE,
    WRITE_ENTRY,
    DELIVER,
    FENCE_SENDER,
    FENCE_RECEIVER,
    SENDER_SEES_ERROR,
    SENDER_TIMER,
    RECEIVER_TIMER,
    HEARD,
    LOSE_PACKETS,
    SENDER_ERROR,
    RECEIVER_ERROR,
    SUSPECT,
    LINK_DOWN,
    /** All of them at once. */
    LINKS_DOWN,
    LINK_UP,
    DROP,
    DOUBLE,
    STOP_SENDER,
    STOP_RECEIVER,
    CONTINUE,
    KILL_SENDER,
    KILL_RECEIVER,
    /** No thread can be made there when one is needed. */
    SENDER_HAS_NO_THREAD,
    RECEIVER_HAS_NO_THREAD,
    LOSE_COMPLETIONS
}
