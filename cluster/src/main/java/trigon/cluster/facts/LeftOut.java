package trigon.cluster.facts;

import java.util.Locale;

/**
 * A link that is not used, or not as it was found.
 *
 * @param why in words
 * @param weight {@code suspect} if somebody probably wants it used
 * @param down true if its interface is down
 */
public record LeftOut(String name, String why, String weight, boolean down) {

    static LeftOut of(trigon.routing.LeftOut each) {
        return new LeftOut(
                each.name(),
                each.cause().toString(),
                each.cause().weight().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                each.cause().isDown());
    }

    /** Tells whether somebody probably wants it used, and it is up: of what is down, other facts say more. */
    public boolean isSuspect() {
        return weight.equals("suspect") && !down;
    }
}
