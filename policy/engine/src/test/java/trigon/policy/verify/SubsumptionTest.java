package trigon.policy.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verify.State.Frame;

/**
 * A state that covers another one stands for all machines that the other one stands for. Random states, and random
 * machines of them. {@code -Dtrigon.policy.states} says how many pairs of states; {@link SubsumptionRun} is for long.
 */
class SubsumptionTest {

    private static final int PAIRS = Integer.getInteger("trigon.policy.states", 30_000);

    /** Machines of a state; each is held against each state that covers it. */
    private static final int MACHINES = 8;

    /** So many others are compared with each state. */
    private static final int OTHERS = 50;

    private final long seed = Long.getLong("trigon.policy.seed", System.nanoTime());

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void whatIsCoveredIsACase() {
        System.out.println("seed " + seed);
        long covered = covered(seed, PAIRS);
        System.out.println(covered + " of " + PAIRS + " covered");
        assertThat(covered).isBetween(PAIRS / 20L, PAIRS - 1L);
    }

    /** Number of pairs, of so many, of which one state covers the other. */
    static long covered(long seed, int pairs) {
        Random random = new Random(seed);
        RandomStates states = new RandomStates(random);
        long covered = 0;
        State now = states.next();
        List<Machine> machines = List.of();
        for (int pair = 0; pair < pairs; pair++) {
            if (pair % OTHERS == 0) {
                now = states.next();
                machines = machines(now, random, seed);
            }
            State before = states.near(now);
            if (Subsumption.covers(before, now)) {
                covered++;
                Machine.Meaning meaning = Machine.Meaning.of(before);
                for (Machine machine : machines) {
                    if (!machine.isCaseOf(meaning)) {
                        fail(
                                "seed %d, pair %d: %s covers %s, but does not stand for %s",
                                seed, pair, before.describe(), now.describe(), machine);
                    }
                }
            }
        }
        return covered;
    }

    private static List<Machine> machines(State now, Random random, long seed) {
        Machine.Meaning meaning = Machine.Meaning.of(now);
        List<Machine> machines = new ArrayList<>();
        for (int i = 0; i < MACHINES; i++) {
            Machine machine = Machine.of(now, random);
            if (!machine.isCaseOf(meaning)) {
                fail("seed %d: %s does not stand for %s, which was made of it", seed, now.describe(), machine);
            }
            machines.add(machine);
        }
        return machines;
    }

    @Test
    void theRelationIsAnOrder() {
        Random random = new Random(seed);
        RandomStates states = new RandomStates(random);
        int chains = 0;
        for (int i = 0; i < PAIRS / 100; i++) {
            State a = states.next();
            assertThat(Subsumption.covers(a, a))
                    .as("seed %d: a state covers itself", seed)
                    .isTrue();
            State b = states.near(a);
            State c = states.near(b);
            if (Subsumption.covers(b, a) && Subsumption.covers(c, b)) {
                chains++;
                assertThat(Subsumption.covers(c, a))
                        .as("seed %d: what covers is covered along", seed)
                        .isTrue();
            }
        }
        assertThat(chains).isPositive();
    }

    private static State state(Value... registers) {
        Frame frame = Frame.of(0, 0);
        System.arraycopy(registers, 0, frame.registers, 0, registers.length);
        return new State(new ArrayList<>(List.of(frame)));
    }

    @Test
    void addressesOfNoLookupAreOneAddress() {
        Value fixed = Value.Pointer.to(Region.MAP_VALUE, 0, 0);
        Value one = new Value.Pointer(Region.MAP_VALUE, 0, Range.constant(0), false, 1);
        Value other = new Value.Pointer(Region.MAP_VALUE, 0, Range.constant(0), false, 2);
        assertThat(Subsumption.covers(state(fixed, fixed), state(one, other))).isFalse();
        assertThat(Subsumption.covers(state(fixed, fixed), state(one, one))).isFalse();
        assertThat(Subsumption.covers(state(one, one), state(one, other))).isFalse();
        assertThat(Subsumption.covers(state(one, other), state(one, one))).isTrue();
        assertThat(Subsumption.covers(state(one, one), state(other, other))).isTrue();
    }
}
