package trigon.routing;

import java.util.List;

/** Looks for links that the machine has got since the process began. Used by one thread at a time; may block. */
@FunctionalInterface
public interface LinkSearch {

    /** The links of the start are all there ever are. */
    LinkSearch NONE = _ -> List.of();

    /**
     * The links that are there now and are not among those known, under names that none of these has. Their devices can
     * be opened.
     */
    List<LocalLink> beyond(List<LocalLink> known);
}
