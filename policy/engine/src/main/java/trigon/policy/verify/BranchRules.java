package trigon.policy.verify;

import static trigon.policy.verify.Violation.require;

import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.Comparison;
import trigon.policy.isa.Instruction.Operand;
import trigon.policy.range.Range;
import trigon.policy.range.RangeComparison;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verify.Value.Pointer;
import trigon.policy.verify.Value.Scalar;

/** Rules of comparisons, and what they teach. */
final class BranchRules {

    private BranchRules() {}

    /** Narrows a state to the outcome of a branch. False if it cannot come out so. */
    static boolean assume(State state, Branch branch, boolean outcome) throws Violation {
        Value left = Registers.read(state, branch.left());
        Value right = Registers.value(state, branch.right());
        if (left instanceof Scalar a && right instanceof Scalar b) {
            return assumeNumbers(state, branch, outcome, a.range(), b.range());
        }
        require(branch.wide(), Rule.POINTER_ARITHMETIC, "half of an address is compared");
        if (left instanceof Pointer a && right instanceof Scalar b) {
            return assumeNull(state, branch, outcome, a, b.range());
        }
        if (left instanceof Pointer a && right instanceof Pointer b) {
            return assumeAlike(branch, outcome, a, b);
        }
        throw new Violation(Rule.POINTER_ARITHMETIC, "%s is compared with %s".formatted(left, right));
    }

    private static boolean assumeNumbers(State state, Branch branch, boolean outcome, Range a, Range b) {
        RangeComparison learned = RangeComparison.assume(branch.comparison(), branch.wide(), outcome, a, b);
        if (learned == null) {
            return false;
        }
        boolean itself = branch.right() instanceof Operand.Register(int register) && register == branch.left();
        if (itself) {
            return outcome ? holdsForEqual(branch.comparison(), a) : true;
        }
        state.narrow(branch.left(), learned.left());
        if (branch.right() instanceof Operand.Register(int register)) {
            state.narrow(register, learned.right());
        }
        return true;
    }

    private static boolean holdsForEqual(Comparison comparison, Range value) {
        return switch (comparison) {
            case NOT_EQUAL, GREATER, LESS, SIGNED_GREATER, SIGNED_LESS -> false;
            case BITS_SET -> !value.equals(Range.constant(0));
            default -> true;
        };
    }

    private static boolean assumeNull(State state, Branch branch, boolean outcome, Pointer pointer, Range zero)
            throws Violation {
        Comparison comparison = branch.comparison();
        boolean equality = comparison == Comparison.EQUAL || comparison == Comparison.NOT_EQUAL;
        require(
                equality && zero.isConstant() && zero.value() == 0,
                Rule.POINTER_ARITHMETIC,
                "%s is compared with %s; addresses can be compared with 0 only".formatted(pointer, zero));
        boolean isNull = (comparison == Comparison.EQUAL) == outcome;
        if (!pointer.nullable()) {
            return !isNull;
        }
        state.resolveNull(pointer.id(), isNull);
        return true;
    }

    private static boolean assumeAlike(Branch branch, boolean outcome, Pointer a, Pointer b) throws Violation {
        boolean alike = !a.nullable()
                && !b.nullable()
                && a.region() == b.region()
                && a.region() != Region.MAP
                && a.index() == b.index()
                && a.id() == b.id();
        require(alike, Rule.POINTER_ARITHMETIC, "%s is compared with %s".formatted(a, b));
        Comparison ofOffsets = switch (branch.comparison()) {
            case EQUAL, NOT_EQUAL -> branch.comparison();
            case GREATER -> Comparison.SIGNED_GREATER;
            case GREATER_OR_EQUAL -> Comparison.SIGNED_GREATER_OR_EQUAL;
            case LESS -> Comparison.SIGNED_LESS;
            case LESS_OR_EQUAL -> Comparison.SIGNED_LESS_OR_EQUAL;
            default -> throw new Violation(Rule.POINTER_ARITHMETIC, "addresses are compared as numbers");
        };
        return RangeComparison.assume(ofOffsets, true, outcome, a.offset(), b.offset()) != null;
    }
}
