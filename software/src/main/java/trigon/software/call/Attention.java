package trigon.software.call;

/** Requests of C that Java looks at a queue pair, as bits of {@link Word#ATTENTION}. */
public final class Attention {

    /** It is in the error state. */
    public static final int FAILED = 1 << 1;

    /** The connection on which requests go out has ended. */
    public static final int OUT_ENDED = 1 << 2;

    /** That of those that come in. */
    public static final int IN_ENDED = 1 << 3;

    /** The peer broke the protocol. */
    public static final int REJECTED = 1 << 4;

    /** The first request has come: its connection is the peer's. */
    public static final int TAKEN = 1 << 5;

    /** A request waits, and there is no connection. */
    public static final int CONNECT = 1 << 6;

    /** An answer is waited for, and no timer runs. */
    public static final int TIMER = 1 << 7;

    /** The peer has said that it has no receive, or has one again. */
    public static final int RECEIVER = 1 << 8;

    /** The peer is to be told again and again that there is no receive. */
    public static final int NOT_READY = 1 << 9;

    /** Acknowledgements are held back for a moment. */
    public static final int HOLD = 1 << 10;

    /** A relay has altered a header. */
    public static final int HEADER = 1 << 11;

    /** A relay has altered a payload. */
    public static final int PAYLOAD = 1 << 12;

    public static final int SENDS_OVERRAN = 1 << 13;
    public static final int RECEIVES_OVERRAN = 1 << 14;

    private Attention() {}
}
