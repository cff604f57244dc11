package trigon.config;

import java.util.Optional;

/** What may carry data. */
public enum LinkPolicy {
    /** RDMA where both ends have it, the software device elsewhere. */
    AUTO,
    /** RDMA only: a peer that cannot be reached by it is an error. */
    RDMA,
    /** The software device only. */
    SOFTWARE;

    /** The words for {@code links}, for messages. */
    static String words() {
        return Words.all(values());
    }

    /** The policy of that word. */
    static Optional<LinkPolicy> ofWord(String word) {
        return Words.find(values(), word);
    }

    /** As it is written in the file and in {@code TRIGON_LINKS}. */
    @Override
    public String toString() {
        return Words.of(this);
    }
}
