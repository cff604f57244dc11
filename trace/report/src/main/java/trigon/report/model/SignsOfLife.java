package trigon.report.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import trigon.report.read.TraceContents.Event;
import trigon.trace.Fields;

/**
 * Heartbeats of ranks on their lifelines, some ten a second each way, as both traces have them. They bound the clocks
 * where messages go one way only.
 */
final class SignsOfLife {

    /** One of them: when it was said, by the speaker's clock, and when it was heard, by the listener's. */
    private record Sign(int speaker, long said, int listener, long heard) {}

    private static final String SAID = "alive said";
    private static final String HEARD = "alive heard";

    private final List<Sign> signs = new ArrayList<>();

    private SignsOfLife() {}

    /** Those whose both ends are in the traces. */
    static SignsOfLife of(List<Rank> ranks) {
        SignsOfLife all = new SignsOfLife();
        Map<String, Event> said = new HashMap<>();
        Map<String, Rank> speakers = new HashMap<>();
        for (Rank rank : ranks) {
            for (Event event : rank.trace().events()) {
                if (event.what().equals(SAID)) {
                    said.put(key(event), event);
                    speakers.put(key(event), rank);
                }
            }
        }
        for (Rank rank : ranks) {
            for (Event event : rank.trace().events()) {
                if (event.what().equals(HEARD)) {
                    Event of = said.get(key(event));
                    Rank speaker = speakers.get(key(event));
                    if (of != null && speaker != null) {
                        all.signs.add(new Sign(speaker.clock(), of.time(), rank.clock(), event.time()));
                    }
                }
            }
        }
        return all;
    }

    /** Tells whether an event is about them; there are too many to be shown. */
    static boolean isOne(Event event) {
        return event.what().equals(SAID) || event.what().equals(HEARD);
    }

    private static String key(Event event) {
        Fields fields = event.fields();
        return fields.get("from") + " " + fields.get("to") + " " + fields.get("count");
    }

    /** The first of their times, by machines' clocks that are so far ahead. */
    long earliest(long[] ahead) {
        return signs.stream()
                .mapToLong(sign -> sign.said - ahead[sign.speaker])
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /**
     * When the last of them was said, on the run's clock; {@link Long#MIN_VALUE} without any.
     *
     * @param ahead how much each speaker's clock is ahead of it, in nanoseconds
     */
    long latest(long[] ahead) {
        return signs.stream()
                .mapToLong(sign -> sign.said - ahead[sign.speaker])
                .max()
                .orElse(Long.MIN_VALUE);
    }

    /** Nothing is heard before it was said. */
    void bound(Clocks clocks) {
        signs.forEach(sign -> clocks.happenedAfter(sign.speaker, sign.said, sign.listener, sign.heard));
    }
}
