package trigon.stream.circuit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import trigon.system.NanoClock;

/**
 * The key of this process's job, as far as it is known here. Each process draws one at random; of two processes that
 * have proven themselves to each other, both keep the smaller one and pass it on. So a job soon has one key, and nobody
 * else has it. Thread-safe.
 */
public final class JobKeys {

    /** Length of a key. */
    public static final int BYTES = 32;

    /** Keys that were this process's before; the oldest goes first. */
    static final int MAX_FORMER = 16;

    /** The time for which a former key still counts: members that are behind prove themselves by it. */
    static final Duration FORMER = Duration.ofSeconds(60);

    /** Results of learning a peer's key. */
    public enum Outcome {
        /** It is this process's, too. */
        SAME,
        /** It is this process's from now on: others are to be told. */
        ADOPTED,
        /** It is larger: the peer is to be told of the own one. */
        LARGER
    }

    /** One of the keys. */
    public static final class Key {

        private final byte[] bytes;
        private @Nullable Long id; // when first asked for: an HMAC takes long to load

        Key(byte[] bytes) {
            this.bytes = bytes.clone();
        }

        /** Tells it from others, and nothing about it. */
        public synchronized long id() {
            Long known = id;
            if (known == null) {
                known = ByteBuffer.wrap(derive("trigon job id")).getLong();
                id = known;
            }
            return known;
        }

        /** The key for one purpose. */
        public byte[] derive(String purpose) {
            return CircuitKeys.mac(bytes, purpose.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private record Former(Key key, long since) {}

    private final NanoClock clock;
    private Key key; // guarded by this, as is the rest
    private final Deque<Former> former = new ArrayDeque<>(); // the latest first
    private boolean shared;

    /** A random one, which nobody else knows yet. */
    public JobKeys(NanoClock clock) {
        this(clock, random());
    }

    JobKeys(NanoClock clock, byte[] first) {
        this.clock = clock;
        key = new Key(first);
    }

    private static byte[] random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    /** The key's bytes, for those who have proven themselves. */
    public synchronized byte[] smallest() {
        return key.bytes.clone();
    }

    /** Takes a key from a peer that has proven itself. */
    public synchronized Outcome learn(byte[] theirs) {
        if (theirs.length != BYTES) {
            throw new IllegalArgumentException("a key has " + BYTES + " bytes");
        }
        shared = true;
        int order = Arrays.compareUnsigned(theirs, key.bytes);
        if (order >= 0) {
            return order == 0 ? Outcome.SAME : Outcome.LARGER;
        }
        former.addFirst(new Former(key, clock.nanoTime()));
        if (former.size() > MAX_FORMER) {
            former.removeLast();
        }
        key = new Key(theirs);
        return Outcome.ADOPTED;
    }

    /** Returns whether another process has been met, which has the key or is about to. */
    public synchronized boolean isShared() {
        return shared;
    }

    /** The key to prove things by. */
    public synchronized Key current() {
        return key;
    }

    /** The keys that count as proofs: this one, and those that were it lately. */
    synchronized List<Key> valid() {
        long now = clock.nanoTime();
        former.removeIf(each -> now - each.since > FORMER.toNanos());
        List<Key> all = new ArrayList<>(List.of(key));
        former.forEach(each -> all.add(each.key));
        return all;
    }

    /** The one of them with that id. */
    public Optional<Key> valid(long id) {
        return valid().stream().filter(each -> each.id() == id).findFirst();
    }
}
