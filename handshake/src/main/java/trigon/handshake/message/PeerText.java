package trigon.handshake.message;

/** Text that one end gives the other for its log. */
final class PeerText {

    private PeerText() {}

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
