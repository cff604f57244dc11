package trigon.transport.resume;

/** Why a session cannot go on. */
public enum LostReason {
    /** It is not lost. */
    NONE("it goes on"),

    /** The peer says that it has less than was confirmed, or more than was sent: a device has lost what it had. */
    MISCOUNT("the two ends do not agree on what has arrived: a device confirmed a message that it then lost"),

    /** Its paths failed again and again before a single message got across. */
    FRUITLESS("its paths failed again and again without a message getting across");

    private final String words;

    LostReason(String words) {
        this.words = words;
    }

    /** For the log: a clause. */
    public String words() {
        return words;
    }
}
