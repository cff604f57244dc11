package trigon.tools.metrics;

/** Words for the counters' state codes, which are those of the transport's PathState. */
final class PathWords {

    private PathWords() {}

    static String state(int code) {
        return switch (code) {
            case 1 -> "opening";
            case 2 -> "up";
            case 3 -> "lost";
            case 4 -> "closed";
            case 5 -> "interrupted";
            default -> "state " + code;
        };
    }
}
