package trigon.policy.range;

import org.jspecify.annotations.Nullable;
import trigon.policy.isa.Instruction.Comparison;

/** Ranges of a branch's operands once it was taken. */
public record RangeComparison(Range left, Range right) {

    /**
     * The operands where the comparison came out as said.
     *
     * @return null if it never comes out so
     */
    public static @Nullable RangeComparison assume(
            Comparison comparison, boolean wide, boolean outcome, Range left, Range right) {
        Comparison held = outcome ? comparison : negated(comparison);
        boolean neverBitsSet = comparison == Comparison.BITS_SET && !outcome;
        if (wide) {
            return neverBitsSet ? noBitsSet(left, right) : hold(held, left, right);
        }
        boolean signed = isSigned(held);
        Range a = signed ? left.signExtended(32) : left.lowBits(32);
        Range b = signed ? right.signExtended(32) : right.lowBits(32);
        RangeComparison low = neverBitsSet ? noBitsSet(a, b) : hold(held, a, b);
        if (low == null) {
            return null;
        }
        Range newLeft = merge(left, low.left);
        Range newRight = merge(right, low.right);
        return newLeft == null || newRight == null ? null : new RangeComparison(newLeft, newRight);
    }

    /** Applies bounds of the low half to the whole, if there is nothing else in it. */
    private static @Nullable Range merge(Range whole, Range low) {
        return whole.fitsUnsigned32() ? whole.intersect(low.lowBits(32)) : whole;
    }

    private static boolean isSigned(Comparison comparison) {
        return switch (comparison) {
            case SIGNED_GREATER, SIGNED_GREATER_OR_EQUAL, SIGNED_LESS, SIGNED_LESS_OR_EQUAL -> true;
            default -> false;
        };
    }

    private static Comparison negated(Comparison comparison) {
        return switch (comparison) {
            case EQUAL -> Comparison.NOT_EQUAL;
            case NOT_EQUAL -> Comparison.EQUAL;
            case GREATER -> Comparison.LESS_OR_EQUAL;
            case GREATER_OR_EQUAL -> Comparison.LESS;
            case LESS -> Comparison.GREATER_OR_EQUAL;
            case LESS_OR_EQUAL -> Comparison.GREATER;
            case SIGNED_GREATER -> Comparison.SIGNED_LESS_OR_EQUAL;
            case SIGNED_GREATER_OR_EQUAL -> Comparison.SIGNED_LESS;
            case SIGNED_LESS -> Comparison.SIGNED_GREATER_OR_EQUAL;
            case SIGNED_LESS_OR_EQUAL -> Comparison.SIGNED_GREATER;
            case BITS_SET -> comparison;
        };
    }

    private static @Nullable RangeComparison hold(Comparison held, Range a, Range b) {
        return switch (held) {
            case EQUAL -> {
                Range both = a.intersect(b);
                yield both == null ? null : new RangeComparison(both, both);
            }
            case NOT_EQUAL -> differ(a, b);
            case GREATER -> swapped(less(b, a, true));
            case GREATER_OR_EQUAL -> swapped(less(b, a, false));
            case LESS -> less(a, b, true);
            case LESS_OR_EQUAL -> less(a, b, false);
            case SIGNED_GREATER -> swapped(signedLess(b, a, true));
            case SIGNED_GREATER_OR_EQUAL -> swapped(signedLess(b, a, false));
            case SIGNED_LESS -> signedLess(a, b, true);
            case SIGNED_LESS_OR_EQUAL -> signedLess(a, b, false);
            case BITS_SET -> bitsSet(a, b);
        };
    }

    private static @Nullable RangeComparison swapped(@Nullable RangeComparison other) {
        return other == null ? null : new RangeComparison(other.right, other.left);
    }

    private static @Nullable RangeComparison differ(Range a, Range b) {
        Range left = b.isConstant() ? without(a, b.value()) : a;
        Range right = a.isConstant() ? without(b, a.value()) : b;
        return left == null || right == null ? null : new RangeComparison(left, right);
    }

    /** A number in the middle of a range cannot be taken out of it. */
    private static @Nullable Range without(Range from, long value) {
        if (from.isConstant()) {
            return from.value() == value ? null : from;
        }
        return Range.of(
                from.bits(),
                from.unsignedMin() == value ? value + 1 : from.unsignedMin(),
                from.unsignedMax() == value ? value - 1 : from.unsignedMax(),
                from.min() == value ? value + 1 : from.min(),
                from.max() == value ? value - 1 : from.max());
    }

    private static @Nullable RangeComparison less(Range a, Range b, boolean strictly) {
        if (strictly && (b.unsignedMax() == 0 || a.unsignedMin() == -1)) {
            return null;
        }
        long most = strictly ? b.unsignedMax() - 1 : b.unsignedMax();
        long least = strictly ? a.unsignedMin() + 1 : a.unsignedMin();
        Range left = a.intersect(Range.unsigned(0, most));
        Range right = b.intersect(Range.unsigned(least, -1));
        return left == null || right == null ? null : new RangeComparison(left, right);
    }

    private static @Nullable RangeComparison signedLess(Range a, Range b, boolean strictly) {
        if (strictly && (b.max() == Long.MIN_VALUE || a.min() == Long.MAX_VALUE)) {
            return null;
        }
        long most = strictly ? b.max() - 1 : b.max();
        long least = strictly ? a.min() + 1 : a.min();
        Range left = a.intersect(Range.signed(Long.MIN_VALUE, most));
        Range right = b.intersect(Range.signed(least, Long.MAX_VALUE));
        return left == null || right == null ? null : new RangeComparison(left, right);
    }

    private static @Nullable RangeComparison bitsSet(Range a, Range b) {
        long possible = (a.bits().value() | a.bits().mask())
                & (b.bits().value() | b.bits().mask());
        if (possible == 0) {
            return null;
        }
        if (b.isConstant() && Long.bitCount(b.value()) == 1) {
            Range left = a.intersect(Range.ofTnum(new Tnum(b.value(), ~b.value())));
            return left == null ? null : new RangeComparison(left, b);
        }
        return new RangeComparison(a, b);
    }

    private static @Nullable RangeComparison noBitsSet(Range a, Range b) {
        if ((a.bits().value() & b.bits().value()) != 0) {
            return null;
        }
        Range left = a.intersect(Range.ofTnum(new Tnum(0, ~b.bits().value())));
        Range right = b.intersect(Range.ofTnum(new Tnum(0, ~a.bits().value())));
        return left == null || right == null ? null : new RangeComparison(left, right);
    }
}
