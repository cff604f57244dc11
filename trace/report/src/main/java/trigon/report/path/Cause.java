package trigon.report.path;

/** A cause of elapsed time. The guide says what each means and what to do about it. */
public enum Cause {

    /** A rank called later than the first one. */
    LATE_CALL(
            "late call",
            "the program called later than on other ranks",
            "balance the ranks' work; look for a slow data loader"),

    /** From the call to the first data: NCCL's preparation and the kernel's start. */
    LAUNCH("launch", "from the call to the first data", "larger or fewer collectives"),

    /** The data were not ready: the GPU computes, copies, or waits for its turn. */
    GPU("GPU", "the GPU (or CPU) had no data ready yet", "check the GPU's load, or the host's if it reduces"),

    /** The sender waited for the receiver's word on its way. */
    CREDIT("credit", "the receiver's clear to send was on its way", "check the link's latency"),

    /** The receiver had not posted its receive. */
    PEER_LATE(
            "peer late",
            "the receiver had not posted its receive yet",
            "check that rank: it is slow, or busy with another"),

    /** From the sender's post to the receiver's completion, over the link. */
    TRANSPORT("transport", "the message was on the link", "check the link: speed, loss, sharing"),

    /** The same where another node passes it on. */
    RELAY("relay", "the message was on a path through another node", "add a cable, or change the ring's order"),

    /** A path was lost and replaced. */
    FAILOVER("failover", "a path was lost, and the connection moved to another", "check the cable and the log"),

    /** NCCL's thread did not ask the plugin. */
    PROXY("proxy", "NCCL's progress thread did not run, or was busy", "give the process more processors"),

    /** The trace does not say. */
    UNKNOWN("unknown", "the trace does not say", "");

    private final String word;
    private final String meaning;
    private final String remedy;

    Cause(String word, String meaning, String remedy) {
        this.word = word;
        this.meaning = meaning;
        this.remedy = remedy;
    }

    /** A word for tables and for machines. */
    public String word() {
        return word;
    }

    /** Half a sentence on what was waited for. */
    public String meaning() {
        return meaning;
    }

    /** The remedy, as the guide has it. */
    public String remedy() {
        return remedy;
    }
}
