package trigon.relay.topology;

import java.net.InetAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The limits on others' announcements: records and bytes in all, and records in a second; of what
 * comes from one address, half of each. So whoever floods from one address leaves room for the others. Of records that
 * anybody can have made, an address speaks for its own node alone, so that much less is remembered of it, and all of
 * them leave half of the room to members. One thread.
 */
final class Limits {

    /** Processes that are known at most. */
    static final int MAX_RECORDS = 4096;

    /** Processes of a node that are known where nobody proves a record: a node has so many in several jobs. */
    static final int MAX_UNPROVEN_OF_SOURCE = 128;

    /** Bytes of records as they were sent; in memory they are some ten times as long. */
    static final int MAX_BYTES = 2 << 20;

    /** 4096 processes announce themselves five times a second at first. */
    static final int MAX_A_SECOND = 1 << 15;

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private static final class Share {

        private int records;
        private int bytes;

        boolean hasRoom(int more, int mostRecords, int mostBytes) {
            return records < mostRecords && bytes + more <= mostBytes;
        }

        void add(int sign, int more) {
            records += sign;
            bytes += sign * more;
        }
    }

    private final Share all = new Share();
    private final Share unproven = new Share();
    private final Map<InetAddress, Share> ofSource = new HashMap<>();
    private final Map<InetAddress, Integer> takenOf = new HashMap<>();
    private int taken;
    private long second;
    private long exceeded;
    private @Nullable InetAddress first;
    private boolean told;

    /** Returns whether one more record is looked at now. */
    boolean take(InetAddress source, long now) {
        if (taken == 0 || now - second >= SECOND) {
            second = now;
            taken = 0;
            takenOf.clear();
        }
        int of = takenOf.getOrDefault(source, 0);
        if (taken >= MAX_A_SECOND || of >= MAX_A_SECOND / 2) {
            return exceed(source);
        }
        taken++;
        takenOf.put(source, of + 1);
        return true;
    }

    /**
     * Returns whether a record of so many bytes is remembered; then it is counted, until it is {@linkplain #forget let
     * go}.
     *
     * @param proven whether a member has made it
     */
    boolean remember(InetAddress source, int bytes, boolean proven) {
        Share share = ofSource.computeIfAbsent(source, _ -> new Share());
        boolean room = all.hasRoom(bytes, MAX_RECORDS, MAX_BYTES)
                && share.hasRoom(bytes, proven ? MAX_RECORDS / 2 : MAX_UNPROVEN_OF_SOURCE, MAX_BYTES / 2)
                && (proven || unproven.hasRoom(bytes, MAX_RECORDS / 2, MAX_BYTES / 2));
        if (!room) {
            dropIfEmpty(source, share);
            return exceed(source);
        }
        count(1, share, bytes, proven);
        return true;
    }

    private void count(int sign, Share share, int bytes, boolean proven) {
        all.add(sign, bytes);
        share.add(sign, bytes);
        if (!proven) {
            unproven.add(sign, bytes);
        }
    }

    void forget(InetAddress source, int bytes, boolean proven) {
        Share share = ofSource.get(source);
        if (share != null) {
            count(-1, share, bytes, proven);
            dropIfEmpty(source, share);
        }
    }

    private void dropIfEmpty(InetAddress source, Share share) {
        if (share.records == 0) {
            ofSource.remove(source);
        }
    }

    private boolean exceed(InetAddress source) {
        exceeded++;
        first = first == null ? source : first;
        return false;
    }

    /** Records that were not taken for these limits. */
    long exceeded() {
        return exceeded;
    }

    /** The source of the first record that was not taken; once. */
    Optional<InetAddress> toTell() {
        if (told || first == null) {
            return Optional.empty();
        }
        told = true;
        return Optional.of(first);
    }
}
