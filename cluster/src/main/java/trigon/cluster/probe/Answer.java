package trigon.cluster.probe;

/** The end of a question by datagrams. */
public enum Answer {
    OK("ok"),
    NONE("no answer");

    private final String text;

    Answer(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
