package trigon.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

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
        return Arrays.stream(values()).map(LinkPolicy::toString).collect(Collectors.joining(", "));
    }

    /** The policy of that word. */
    static Optional<LinkPolicy> ofWord(String word) {
        return Arrays.stream(values())
                .filter(policy -> policy.toString().equals(word))
                .findFirst();
    }

    /** As it is written in the file and in {@code TRIGON_LINKS}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
