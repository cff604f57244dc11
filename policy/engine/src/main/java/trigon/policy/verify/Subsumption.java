package trigon.policy.verify;

import java.util.HashMap;
import java.util.Map;
import trigon.policy.verify.State.Frame;

/**
 * Decides whether a state is a case of another one that was looked at already. Ids may be others, but have to tie the
 * same things together. A number without an id is tied to nothing, so it may be any number. An address without one is
 * known best: all such addresses of a map point into the same value.
 */
final class Subsumption {

    private final Map<Integer, Integer> ids = new HashMap<>();

    private Subsumption() {}

    /** Tells whether everything that can happen from {@code now} can happen from {@code before}, too. */
    static boolean covers(State before, State now) {
        if (before.frames.size() != now.frames.size()) {
            return false;
        }
        Subsumption values = new Subsumption();
        for (int i = before.frames.size() - 1; i >= 0; i--) {
            Frame a = before.frames.get(i);
            Frame b = now.frames.get(i);
            if (a.function != b.function || a.slot != b.slot) {
                return false;
            }
            for (int r = 0; r < Frame.REGISTERS; r++) {
                if (!values.covers(a.registers[r], b.registers[r])) {
                    return false;
                }
            }
        }
        for (int i = 0; i < before.frames.size(); i++) {
            if (!before.frames.get(i).stack.subsumes(now.frames.get(i).stack, values)) {
                return false;
            }
        }
        return true;
    }

    boolean covers(Value before, Value now) {
        return switch (before) {
            case Value.Unset _ -> true;
            case Value.Scalar a ->
                now instanceof Value.Scalar b && a.range().contains(b.range()) && isTiedAlike(a.id(), b.id());
            case Value.Pointer a ->
                now instanceof Value.Pointer b
                        && a.region() == b.region()
                        && a.index() == b.index()
                        && a.nullable() == b.nullable()
                        && a.offset().contains(b.offset())
                        && (a.id() != 0 || b.id() == 0)
                        && isTiedAlike(a.id(), b.id());
        };
    }

    private boolean isTiedAlike(int before, int now) {
        if (before == 0) {
            return true;
        }
        Integer known = ids.putIfAbsent(before, now);
        return now != 0 && (known == null || known == now);
    }
}
