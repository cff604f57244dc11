package trigon.cluster.probe;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * The other end of a link, as the kernel's neighbour table has it.
 *
 * @param text its hardware address, or that it did not answer
 */
public record Neighbour(@JsonValue String text) {

    /** One that the kernel has asked in vain. */
    public static final Neighbour SILENT = new Neighbour("no answer");

    @JsonCreator
    public Neighbour {}

    public boolean isSilent() {
        return equals(SILENT);
    }
}
