package trigon.handshake.message;

/**
 * Why an end of a connection has failed, as its owner tells the peer.
 *
 * @param scope what has failed with it
 * @param words for the peer's log; control characters are replaced, and they are cut as a
 *     {@link HandshakeMessage.Reject}'s reason is
 */
public record EndFailure(Scope scope, String words) {

    /** The extent of a failure. */
    public enum Scope {
        /** This connection: its queue pair, its device, what was asked of it. */
        CONNECTION(1),

        /** Its communicator, on whichever node: all that the end had sent before may still come. */
        COMMUNICATOR(2),

        /** The path alone: the connection may go on over another one. */
        PATH(3);

        private final int code;

        Scope(int code) {
            this.code = code;
        }

        /** Its number on the wire, in one byte. */
        int code() {
            return code;
        }

        static Scope ofCode(int code) {
            for (Scope scope : values()) {
                if (scope.code == code) {
                    return scope;
                }
            }
            throw new IllegalArgumentException("a failure of scope " + code);
        }
    }

    public EndFailure {
        words = printable(words, HandshakeMessage.Reject.MAX_REASON_CHARS);
    }

    /** The text without anything that could forge a line in the other side's log, cut to so many characters. */
    static String printable(String text, int most) {
        StringBuilder result = new StringBuilder();
        text.codePoints()
                .limit(most)
                .map(c -> Character.isISOControl(c) ? ' ' : c)
                .map(c -> Character.getType(c) == Character.SURROGATE ? '?' : c)
                .forEach(result::appendCodePoint);
        return result.toString();
    }
}
