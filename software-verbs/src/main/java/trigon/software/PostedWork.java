package trigon.software;

/** Something with queues that other threads fill and an event loop works off at the start of its turns. */
interface PostedWork {

    /** Whether {@link #work} would find something new. Reads what the posting threads write with volatile accesses. */
    boolean hasPosted();

    /** Works off what has been posted. Throws nothing. */
    void work();
}
