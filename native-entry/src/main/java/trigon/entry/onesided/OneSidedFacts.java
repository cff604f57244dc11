package trigon.entry.onesided;

import java.util.LinkedHashMap;
import java.util.Map;
import trigon.onesided.OneSided;

/** The numbers of one-sided communication, as Java has them; {@code one_sided/upcalls.c} has C's. */
public final class OneSidedFacts {

    private OneSidedFacts() {}

    /** Everything that Java and C have to agree on. */
    public static Map<String, Long> expected() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("one_sided.increment", (long) OneSided.INCREMENT);
        facts.put("one_sided.add", (long) OneSided.ADD);
        facts.put("one_sided.never_reset", OneSidedUpcalls.NEVER_RESET);
        facts.put("one_sided.off", OneSidedState.OFF);
        facts.put("one_sided.on", OneSidedState.ON);
        facts.put("one_sided_state.setting", OneSidedState.SETTING);
        OneSidedCall[] calls = OneSidedCall.values();
        for (int number = 0; number < calls.length; number++) {
            facts.put(calls[number].fact(), (long) number);
        }
        return facts;
    }
}
