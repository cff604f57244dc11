package trigon.stream.circuit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import trigon.stream.circuit.JobKeys.Outcome;

/** Keys of a job on their way between its processes, by a clock of the test's. */
class JobKeysTest {

    private static final long SEED = 20_261_130;

    private long now;

    @Test
    void theSmallerKeyCountsAsUnsignedBytes() {
        JobKeys keys = keys(0x80);

        assertThat(keys.learn(key(0xff))).isEqualTo(Outcome.LARGER);
        assertThat(keys.learn(key(0x80))).isEqualTo(Outcome.SAME);
        assertThat(keys.smallest()).isEqualTo(key(0x80));
        assertThat(keys.learn(key(0x7f))).isEqualTo(Outcome.ADOPTED);
        assertThat(keys.smallest()).isEqualTo(key(0x7f));
    }

    @Test
    void noTwoProcessesBeginWithTheSameKey() {
        JobKeys keys = new JobKeys(() -> now);

        assertThat(keys.smallest()).hasSize(JobKeys.BYTES).isNotEqualTo(new JobKeys(() -> now).smallest());
        assertThat(keys.isShared()).isFalse();
        keys.learn(key(0xff));
        assertThat(keys.isShared()).isTrue();
    }

    @Test
    void aKeyOfAnotherLengthIsNone() {
        JobKeys keys = keys(1);

        assertThatThrownBy(() -> keys.learn(new byte[0])).isInstanceOf(IllegalArgumentException.class);
        assertThat(keys.isShared()).isFalse();
    }

    @Test
    void formerKeysCountForAMinute() {
        JobKeys keys = keys(3);
        long former = keys.current().id();
        keys.learn(key(2));

        assertThat(keys.valid(former)).isPresent();
        now += JobKeys.FORMER.toNanos();
        assertThat(keys.valid(former)).isPresent();
        now++;
        assertThat(keys.valid(former)).isEmpty();
        assertThat(keys.valid(keys.current().id())).isPresent();
    }

    @Test
    void ofFormerKeysTheLatestAreRemembered() {
        JobKeys keys = keys(200);
        List<Long> ids = new ArrayList<>();
        for (int first = 199; first > 0; first--) {
            ids.add(keys.current().id());
            keys.learn(key(first));
        }

        assertThat(keys.valid()).hasSize(1 + JobKeys.MAX_FORMER);
        List<Long> latest = ids.subList(ids.size() - JobKeys.MAX_FORMER, ids.size());
        assertThat(ids.stream().filter(id -> keys.valid(id).isPresent())).containsExactlyElementsOf(latest);
    }

    /** Whatever the order in which neighbours meet, all have one key once nobody has anything to tell. */
    @Test
    void aRingAgrees() {
        Random random = new Random(SEED);
        for (int count : List.of(2, 3, 8, 64)) {
            List<JobKeys> ring = new ArrayList<>();
            List<Integer> meetings = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                byte[] own = new byte[JobKeys.BYTES];
                random.nextBytes(own);
                ring.add(new JobKeys(() -> now, own));
                meetings.add(i);
            }
            List<Integer> due = new ArrayList<>(meetings);
            while (!due.isEmpty()) {
                Collections.shuffle(due, random);
                int one = due.removeLast();
                int other = (one + 1) % count;
                boolean changed = meet(ring.get(one), ring.get(other));
                if (changed) { // whoever has adopted a key tells both neighbours
                    due.addAll(List.of((one + count - 1) % count, one, other));
                }
            }

            assertThat(ring)
                    .allSatisfy(each -> assertThat(each.smallest())
                            .isEqualTo(ring.getFirst().smallest()));
        }
    }

    private static boolean meet(JobKeys one, JobKeys other) {
        Outcome there = other.learn(one.smallest());
        Outcome here = one.learn(other.smallest());
        return there == Outcome.ADOPTED || here == Outcome.ADOPTED;
    }

    @Test
    void membersAreRelayedFor() {
        JobKeys job = keys(2);
        CircuitKeys relay = new CircuitKeys(Optional.empty(), job);
        CircuitKeys member = new CircuitKeys(Optional.empty(), keys(2));
        byte[] greeting = {1};
        byte[] request = {2};
        assertThat(member.isEmpty()).as("it may be alone").isTrue();
        member.job().learn(key(2));
        List<byte[]> proofs = proofs(member, greeting, request);

        assertThat(relay.admits(greeting, request, proofs)).isTrue();
        job.learn(key(1));
        assertThat(relay.admits(greeting, request, proofs)).as("who is behind").isTrue();
        now += JobKeys.FORMER.toNanos() + 1;
        assertThat(relay.admits(greeting, request, proofs)).isFalse();
        assertThat(relay.admits(greeting, request, proofs(relay, greeting, request)))
                .isTrue();
    }

    @Test
    void withAClusterKeyTheJobsAdmitsNobody() {
        JobKeys job = keys(1);
        CircuitKeys member = new CircuitKeys(Optional.empty(), job);
        member.job().learn(key(1));
        CircuitKeys relay = new CircuitKeys(Optional.of(new byte[] {9}), job);

        assertThat(relay.admits(new byte[1], new byte[1], proofs(member, new byte[1], new byte[1])))
                .isFalse();
    }

    private static List<byte[]> proofs(CircuitKeys keys, byte[] greeting, byte[] request) {
        return keys.keys(CircuitFormat.MAX_PROOFS).stream()
                .map(key -> CircuitKeys.proof(key, greeting, request))
                .toList();
    }

    private JobKeys keys(int first) {
        return new JobKeys(() -> now, key(first));
    }

    private static byte[] key(int first) {
        byte[] key = new byte[JobKeys.BYTES];
        key[0] = (byte) first;
        return key;
    }
}
