package trigon.policy.verify;

import static trigon.policy.verify.Violation.require;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verify.State.Frame;

/**
 * The states that paths came to where others may join them. Found by the numbers that are known in them: a state can
 * only cover one that has the same numbers in the same places, so that the rounds of a loop, told apart by their
 * counter, need not be compared with each other. If there are too many, the one goes that was of no use for the longest
 * time.
 */
final class KnownStates {

    /** The states of an instruction: by the places whose number is known, then by a hash of these numbers. */
    private final Map<Long, Map<BitSet, Map<Integer, List<Checkpoint>>>> states = new HashMap<>();

    /** The places of all states, the one that was used last at the end. */
    private final LinkedHashMap<Checkpoint, Key> byUse = new LinkedHashMap<>(16, 0.75f, true);

    private final VerifierLimits limits;
    private int compared;

    private record Key(long place, BitSet where, int hash) {}

    KnownStates(VerifierLimits limits) {
        this.limits = limits;
    }

    private static long place(State state) {
        Frame top = state.top();
        return (long) top.function << 32 | top.slot;
    }

    private static int hash(BitSet where, Map<Integer, Long> numbers) {
        int hash = 0;
        for (int at = where.nextSetBit(0); at >= 0; at = where.nextSetBit(at + 1)) {
            Long number = numbers.get(at);
            hash = 31 * hash + (number == null ? 0 : Long.hashCode(number));
        }
        return hash;
    }

    private static boolean isSubset(BitSet of, BitSet all) {
        for (int at = of.nextSetBit(0); at >= 0; at = of.nextSetBit(at + 1)) {
            if (!all.get(at)) {
                return false;
            }
        }
        return true;
    }

    /**
     * The earlier states at the same place of which whatever was shown holds for this one as well.
     *
     * @throws Violation if the comparisons take more than the limits allow
     */
    List<Checkpoint> covering(State state) throws Violation {
        Map<Integer, Long> numbers = state.numbers();
        BitSet known = places(numbers);
        List<Checkpoint> covering = new ArrayList<>();
        for (Map.Entry<BitSet, Map<Integer, List<Checkpoint>>> alike :
                states.getOrDefault(place(state), Map.of()).entrySet()) {
            BitSet where = alike.getKey();
            List<Checkpoint> candidates =
                    isSubset(where, known) ? alike.getValue().getOrDefault(hash(where, numbers), List.of()) : List.of();
            compared += 1 + candidates.size();
            for (Checkpoint candidate : candidates) {
                State before = candidate.state();
                if (before != null && Subsumption.covers(before, state)) {
                    covering.add(candidate);
                }
            }
        }
        require(
                compared <= limits.compared(),
                Rule.TOO_COMPLEX,
                "more than %d states had to be compared; make loops shorter, and branches fewer"
                        .formatted(limits.compared()));
        covering.forEach(byUse::get);
        return covering;
    }

    private static BitSet places(Map<Integer, Long> numbers) {
        BitSet places = new BitSet();
        numbers.keySet().forEach(places::set);
        return places;
    }

    /** Keeps the state of a checkpoint. */
    void add(Checkpoint checkpoint, State state) {
        Map<Integer, Long> numbers = state.numbers();
        BitSet where = places(numbers);
        Key key = new Key(place(state), where, hash(where, numbers));
        states.computeIfAbsent(key.place, place -> new LinkedHashMap<>())
                .computeIfAbsent(where, places -> new HashMap<>())
                .computeIfAbsent(key.hash, hash -> new ArrayList<>())
                .add(checkpoint);
        byUse.put(checkpoint, key);
        if (byUse.size() > limits.keptStates()) {
            Map.Entry<Checkpoint, Key> eldest = byUse.firstEntry();
            byUse.remove(eldest.getKey());
            remove(eldest.getKey(), eldest.getValue());
        }
    }

    private void remove(Checkpoint checkpoint, Key key) {
        checkpoint.forgetState();
        states.computeIfPresent(key.place, (place, alike) -> {
            alike.computeIfPresent(key.where, (where, byHash) -> {
                byHash.computeIfPresent(key.hash, (hash, same) -> {
                    same.remove(checkpoint);
                    return same.isEmpty() ? null : same;
                });
                return byHash.isEmpty() ? null : byHash;
            });
            return alike.isEmpty() ? null : alike;
        });
    }
}
