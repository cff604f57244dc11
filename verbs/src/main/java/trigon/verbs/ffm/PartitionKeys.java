package trigon.verbs.ffm;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Chooses from a port's partition table, whose keys have the highest bit where the port is a full member. */
final class PartitionKeys {

    private static final int DEFAULT = 0xffff;
    private static final int FULL_MEMBER = 0x8000;

    private PartitionKeys() {}

    /** Position of the default partition's key, or of the first full member's; empty if all are limited members'. */
    static OptionalInt indexOfBest(List<Integer> keys) {
        if (keys.contains(DEFAULT)) {
            return OptionalInt.of(keys.indexOf(DEFAULT));
        }
        if (keys.stream().allMatch(key -> key == 0)) {
            return OptionalInt.of(0); // devices without partitions, such as some of RoCE, may say nothing
        }
        return IntStream.range(0, keys.size())
                .filter(index -> (keys.get(index) & FULL_MEMBER) != 0)
                .findFirst();
    }

    /** Says what to do where there is none. */
    static String advice(List<Integer> keys) {
        String limited =
                keys.stream().filter(key -> key != 0).map("0x%04x"::formatted).collect(Collectors.joining(", "));
        return "the port is a limited member of all its partitions (%s), and such ports do not hear each other;"
                        .formatted(limited)
                + " make it a full member in the subnet manager's partitions.conf";
    }
}
