package trigon.transport.protocol;

/**
 * What the messages of a session have come to, for the protocol that goes on with them. All that are under way are in
 * the memory that NCCL has given for them, and their requests are open.
 *
 * @param open where the messages are; the next protocol's from now on
 * @param begun messages so far
 * @param complete of these, messages that are done, in their order
 */
record Handover(OpenMessages open, long begun, long complete) {

    /** Of a session that begins. */
    static Handover atFirst() {
        return new Handover(new OpenMessages(), 0, 0);
    }
}
