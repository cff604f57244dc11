package trigon.policy.verify;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.policy.map.MapSpec;

/** A value knows its map by its index in the object; in what people read, maps have their names. */
record MapNames(List<MapSpec> maps) {

    /** Stands before the index of a map in a text. */
    static final String PLACE = "map #";

    private static final Pattern INDEXED = Pattern.compile(PLACE + "([0-9]+)");

    /** The text with names in place of the indexes. */
    String in(String text) {
        return INDEXED.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        "map " + maps.get(Integer.parseInt(found.group(1))).name()));
    }
}
