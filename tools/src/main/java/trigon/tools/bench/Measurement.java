package trigon.tools.bench;

import java.util.List;

/**
 * What one size took.
 *
 * @param kind point to point, or all-reduce
 * @param ranks that took part, by their numbers
 * @param bytes of a message, or of the all-reduce
 * @param rounds how often
 * @param medianMicros of a round
 * @param wrong elements that were not right
 */
record Measurement(Kind kind, List<Integer> ranks, long bytes, int rounds, double medianMicros, long wrong) {

    /** Pattern of who sends to whom. */
    enum Kind {
        /**
         * Two ranks, each of which sends a message to the other at the same time: an all-reduce of twice the size, in
         * which this happens two times, one after the other.
         */
        POINT_TO_POINT("point-to-point"),
        /** All ranks, as a ring. */
        ALL_REDUCE("all-reduce");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        @Override
        public String toString() {
            return word;
        }
    }

    Measurement {
        ranks = List.copyOf(ranks);
    }

    /** Of a message from its sender's call to the receiver's having it, or of an all-reduce. */
    double micros() {
        return kind == Kind.POINT_TO_POINT ? medianMicros / 2 : medianMicros;
    }

    /**
     * In GB/s: of a message, what goes in one direction while as much goes in the other; of an all-reduce, the bus
     * bandwidth as nccl-tests define it.
     */
    double gigabytesPerSecond() {
        if (medianMicros <= 0) {
            return 0;
        }
        double plain = bytes / micros() / 1e3;
        return kind == Kind.POINT_TO_POINT ? plain : plain * 2 * (ranks.size() - 1) / ranks.size();
    }
}
