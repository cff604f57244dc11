package trigon.transport.resume;

/** Why a session cannot go on. */
public enum LostReason {
    /** It is not lost. */
    NONE("it goes on"),

    /** The peer says that it has less than was confirmed, or more than was sent: a device has lost what it had. */
    MISCOUNT("the two ends disagree on what arrived: a device confirmed a message and then lost it"),

    /** Its paths failed again and again before a single message got across. */
    FRUITLESS("its paths failed repeatedly without delivering a message");

    private final String words;

    LostReason(String words) {
        this.words = words;
    }

    /** For the log: a clause. */
    public String words() {
        return words;
    }
}
