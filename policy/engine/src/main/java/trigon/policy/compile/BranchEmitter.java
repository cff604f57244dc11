package trigon.policy.compile;

import static java.lang.constant.ConstantDescs.CD_Integer;
import static java.lang.constant.ConstantDescs.CD_Long;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.MethodTypeDesc;
import trigon.policy.isa.Comparison;
import trigon.policy.isa.Instruction.Branch;

record BranchEmitter(FunctionEmitter function, CodeBuilder out) {

    void emit(Branch branch, Label target) {
        Comparison comparison = branch.comparison();
        if (branch.wide()) {
            function.get(branch.left());
            function.get(branch.right());
        } else {
            function.get(branch.left());
            out.l2i();
            function.getInt(branch.right());
        }
        compare(comparison, branch.wide());
        switch (comparison) {
            case EQUAL -> out.ifeq(target);
            case NOT_EQUAL, BITS_SET -> out.ifne(target);
            case GREATER, SIGNED_GREATER -> out.ifgt(target);
            case GREATER_OR_EQUAL, SIGNED_GREATER_OR_EQUAL -> out.ifge(target);
            case LESS, SIGNED_LESS -> out.iflt(target);
            case LESS_OR_EQUAL, SIGNED_LESS_OR_EQUAL -> out.ifle(target);
        }
    }

    /** Leaves an int, to be compared with zero. */
    private void compare(Comparison comparison, boolean wide) {
        switch (comparison) {
            case BITS_SET -> {
                if (wide) {
                    out.land().lconst_0().lcmp();
                } else {
                    out.iand();
                }
            }
            case GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL -> {
                if (wide) {
                    out.invokestatic(CD_Long, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long));
                } else {
                    out.invokestatic(CD_Integer, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_int, CD_int));
                }
            }
            default -> {
                if (wide) {
                    out.lcmp();
                } else {
                    out.invokestatic(CD_Integer, "compare", MethodTypeDesc.of(CD_int, CD_int, CD_int));
                }
            }
        }
    }
}
