package trigon.policy.verdict;

/** The memory that an address points into. */
public enum Region {
    CONTEXT("context"),
    STACK("stack"),
    /** A map as such, for helpers. */
    MAP("map"),
    /** A value in a map, or a global variable. */
    MAP_VALUE("map value");

    private final String text;

    Region(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
