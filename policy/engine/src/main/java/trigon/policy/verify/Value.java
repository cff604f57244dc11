package trigon.policy.verify;

import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;

/** Knowledge of a register, or of a part of the stack. */
sealed interface Value {

    /** Beginning of a map's index in a text, for which the verifier puts the map's name. */
    String MAP = "map #";

    Value UNSET = new Unset();

    /** A register or slot that was not written. */
    record Unset() implements Value {
        @Override
        public String toString() {
            return "not set";
        }
    }

    /** A number; all with the same {@code id} other than 0 are equal. */
    record Scalar(Range range, int id) implements Value {
        static Scalar of(Range range) {
            return new Scalar(range, 0);
        }

        @Override
        public String toString() {
            return range.toString();
        }
    }

    /**
     * An address in a region.
     *
     * @param index of the map, or of the frame whose stack it is
     * @param offset from the start; of a stack, from its end
     * @param nullable may be zero; all with the same id are zero or none is
     * @param id of the look-up it comes from, or 0
     */
    record Pointer(Region region, int index, Range offset, boolean nullable, int id) implements Value {

        static Pointer to(Region region, int index, long offset) {
            return new Pointer(region, index, Range.constant(offset), false, 0);
        }

        Pointer at(Range newOffset) {
            return new Pointer(region, index, newOffset, nullable, id);
        }

        Pointer notNull() {
            return new Pointer(region, index, offset, false, id);
        }

        @Override
        public String toString() {
            String base = switch (region) {
                case CONTEXT -> "address in the context";
                case STACK -> "address in the stack of frame " + index;
                case MAP -> MAP + index;
                case MAP_VALUE -> "address in a value of " + MAP + index;
            };
            return base + (region == Region.MAP ? "" : ", offset " + offset) + (nullable ? ", or 0" : "");
        }
    }
}
