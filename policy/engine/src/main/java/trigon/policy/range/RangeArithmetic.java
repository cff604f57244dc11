package trigon.policy.range;

import trigon.policy.isa.Instruction.AluOperation;

/** Arithmetic on ranges. Where bounds could overflow, only the bits remain. */
public final class RangeArithmetic {

    private static final long LOW_32 = 0xffff_ffffL;

    private RangeArithmetic() {}

    /** The result of an instruction; {@code NEGATE} takes the left operand only. */
    public static Range apply(AluOperation operation, boolean wide, Range left, Range right) {
        if (wide) {
            return apply64(operation, left, right);
        }
        boolean signed = switch (operation) {
            case DIVIDE_SIGNED, MODULO_SIGNED, SHIFT_RIGHT_ARITHMETIC -> true;
            default -> false;
        };
        Range a = signed ? left.signExtended(32) : left.lowBits(32);
        Range b = signed ? right.signExtended(32) : right.lowBits(32);
        return switch (operation) {
            case SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_ARITHMETIC ->
                shift(operation, a, b.lowBits(5)).lowBits(32);
            default -> apply64(operation, a, b).lowBits(32);
        };
    }

    private static Range apply64(AluOperation operation, Range a, Range b) {
        return switch (operation) {
            case ADD -> add(a, b);
            case SUBTRACT -> subtract(a, b);
            case NEGATE -> subtract(Range.constant(0), a);
            case MULTIPLY -> multiply(a, b);
            case DIVIDE -> divide(a, b);
            case MODULO -> modulo(a, b);
            case DIVIDE_SIGNED -> divideSigned(a, b);
            case MODULO_SIGNED -> moduloSigned(a, b);
            case AND -> and(a, b);
            case OR -> or(a, b);
            case XOR -> Range.ofTnum(a.bits().xor(b.bits()));
            case MOVE -> b;
            case SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_ARITHMETIC -> shift(operation, a, b.lowBits(6));
        };
    }

    private static Range add(Range a, Range b) {
        long low = a.min() + b.min();
        long high = a.max() + b.max();
        boolean signedOverflow = overflows(a.min(), b.min(), low) || overflows(a.max(), b.max(), high);
        long ulow = a.unsignedMin() + b.unsignedMin();
        long uhigh = a.unsignedMax() + b.unsignedMax();
        boolean unsignedOverflow = Long.compareUnsigned(uhigh, a.unsignedMax()) < 0;
        return bounded(a.bits().add(b.bits()), unsignedOverflow, ulow, uhigh, signedOverflow, low, high);
    }

    private static Range subtract(Range a, Range b) {
        long low = a.min() - b.max();
        long high = a.max() - b.min();
        boolean signedOverflow = underflows(a.min(), b.max(), low) || underflows(a.max(), b.min(), high);
        boolean unsignedOverflow = Long.compareUnsigned(a.unsignedMin(), b.unsignedMax()) < 0;
        return bounded(
                a.bits().subtract(b.bits()),
                unsignedOverflow,
                a.unsignedMin() - b.unsignedMax(),
                a.unsignedMax() - b.unsignedMin(),
                signedOverflow,
                low,
                high);
    }

    private static boolean overflows(long a, long b, long sum) {
        return ((a ^ sum) & (b ^ sum)) < 0;
    }

    private static boolean underflows(long a, long b, long difference) {
        return ((a ^ b) & (a ^ difference)) < 0;
    }

    private static Range bounded(
            Tnum bits, boolean noUnsigned, long ulow, long uhigh, boolean noSigned, long low, long high) {
        return Range.nonEmpty(
                bits,
                noUnsigned ? 0 : ulow,
                noUnsigned ? -1 : uhigh,
                noSigned ? Long.MIN_VALUE : low,
                noSigned ? Long.MAX_VALUE : high);
    }

    private static Range multiply(Range a, Range b) {
        Tnum bits = a.bits().multiply(b.bits());
        if (a.isConstant() && b.isConstant()) {
            return Range.constant(a.value() * b.value());
        }
        if (Math.unsignedMultiplyHigh(a.unsignedMax(), b.unsignedMax()) != 0) {
            return Range.ofTnum(bits);
        }
        return Range.nonEmpty(
                bits,
                a.unsignedMin() * b.unsignedMin(),
                a.unsignedMax() * b.unsignedMax(),
                Long.MIN_VALUE,
                Long.MAX_VALUE);
    }

    /** By zero gives zero. */
    private static Range divide(Range a, Range b) {
        if (b.unsignedMax() == 0) {
            return Range.constant(0);
        }
        boolean mayBeZero = b.unsignedMin() == 0;
        long low = mayBeZero ? 0 : Long.divideUnsigned(a.unsignedMin(), b.unsignedMax());
        long high = Long.divideUnsigned(a.unsignedMax(), mayBeZero ? 1 : b.unsignedMin());
        return Range.unsigned(low, high);
    }

    /** By zero leaves the dividend. */
    private static Range modulo(Range a, Range b) {
        if (b.unsignedMax() == 0) {
            return a;
        }
        if (a.isConstant() && b.isConstant()) {
            return Range.constant(Long.remainderUnsigned(a.value(), b.value()));
        }
        boolean mayBeZero = b.unsignedMin() == 0;
        long high = a.unsignedMax();
        if (!mayBeZero && Long.compareUnsigned(b.unsignedMax() - 1, high) < 0) {
            high = b.unsignedMax() - 1;
        }
        return Range.unsigned(0, high);
    }

    private static Range divideSigned(Range a, Range b) {
        if (a.isConstant() && b.isConstant()) {
            // the smallest number by -1 is itself, in Java too
            return Range.constant(b.value() == 0 ? 0 : a.value() / b.value());
        }
        // a quotient is no further from zero than the dividend, except that a negation changes the sign
        if (a.min() >= 0 && b.min() >= 0) {
            return Range.signed(0, a.max());
        }
        if (a.min() == Long.MIN_VALUE) {
            return Range.UNKNOWN;
        }
        long furthest = Math.max(Math.abs(a.min()), Math.abs(a.max()));
        return Range.signed(-furthest, furthest);
    }

    private static Range moduloSigned(Range a, Range b) {
        if (a.isConstant() && b.isConstant()) {
            return Range.constant(b.value() == 0 ? a.value() : a.value() % b.value());
        }
        // the sign is the dividend's, and so is the value if the divisor is zero
        return Range.signed(Math.min(0, a.min()), Math.max(0, a.max()));
    }

    private static Range and(Range a, Range b) {
        Tnum bits = a.bits().and(b.bits());
        long high = Long.compareUnsigned(a.unsignedMax(), b.unsignedMax()) < 0 ? a.unsignedMax() : b.unsignedMax();
        return Range.nonEmpty(bits, 0, high, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    private static Range or(Range a, Range b) {
        Tnum bits = a.bits().or(b.bits());
        long low = Long.compareUnsigned(a.unsignedMin(), b.unsignedMin()) > 0 ? a.unsignedMin() : b.unsignedMin();
        return Range.nonEmpty(bits, low, -1, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** By an amount that is already cut to the bits of the width. */
    private static Range shift(AluOperation operation, Range a, Range amount) {
        if (amount.isConstant()) {
            return shiftBy(operation, a, (int) amount.value());
        }
        return switch (operation) {
            case SHIFT_RIGHT ->
                Range.unsigned(
                        a.unsignedMin() >>> (int) amount.unsignedMax(), a.unsignedMax() >>> (int) amount.unsignedMin());
            case SHIFT_RIGHT_ARITHMETIC -> Range.signed(Math.min(a.min(), 0), Math.max(a.max(), -1));
            default -> {
                int most = (int) amount.unsignedMax();
                if (a.unsignedMax() << most >>> most != a.unsignedMax()) {
                    yield Range.UNKNOWN;
                }
                yield Range.unsigned(a.unsignedMin() << (int) amount.unsignedMin(), a.unsignedMax() << most);
            }
        };
    }

    private static Range shiftBy(AluOperation operation, Range a, int bits) {
        return switch (operation) {
            case SHIFT_RIGHT ->
                Range.nonEmpty(
                        a.bits().shiftRight(bits),
                        a.unsignedMin() >>> bits,
                        a.unsignedMax() >>> bits,
                        Long.MIN_VALUE,
                        Long.MAX_VALUE);
            case SHIFT_RIGHT_ARITHMETIC ->
                Range.nonEmpty(a.bits().shiftRightArithmetic(bits), 0, -1, a.min() >> bits, a.max() >> bits);
            default -> {
                Tnum shifted = a.bits().shiftLeft(bits);
                boolean lost = a.unsignedMax() << bits >>> bits != a.unsignedMax();
                boolean lostSigned = a.min() << bits >> bits != a.min() || a.max() << bits >> bits != a.max();
                yield bounded(
                        shifted,
                        lost,
                        a.unsignedMin() << bits,
                        a.unsignedMax() << bits,
                        lostSigned,
                        a.min() << bits,
                        a.max() << bits);
            }
        };
    }

    /** The result of an instruction of byte order, as far as it is worth knowing. */
    public static Range lowBitsSwapped(Range value, int bits) {
        if (!value.isConstant()) {
            return Range.ofBits(bits);
        }
        long number = value.value();
        return Range.constant(
                switch (bits) {
                    case 16 -> Short.reverseBytes((short) number) & 0xffffL;
                    case 32 -> Integer.reverseBytes((int) number) & LOW_32;
                    default -> Long.reverseBytes(number);
                });
    }
}
