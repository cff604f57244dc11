package trigon.policy.map;

/** A map that cannot be as it is declared, or that does not fit one that exists. */
public final class MapException extends Exception {

    private static final long serialVersionUID = 1;

    public MapException(String message) {
        super(message);
    }
}
