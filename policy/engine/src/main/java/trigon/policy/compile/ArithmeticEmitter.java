package trigon.policy.compile;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.AluOperation;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.MoveSignExtended;
import trigon.policy.isa.Instruction.Swap;

/** Emits arithmetic: of 64 bits with the JVM's longs, of 32 with its ints. */
record ArithmeticEmitter(FunctionEmitter function, CodeBuilder out) {

    void emit(Alu alu) {
        if (alu.wide()) {
            wide(alu);
        } else {
            narrow(alu);
        }
        function.set(alu.destination());
    }

    private void wide(Alu alu) {
        if (alu.operation() == AluOperation.MOVE) {
            function.get(alu.operand());
            return;
        }
        function.get(alu.destination());
        switch (alu.operation()) {
            case NEGATE -> {
                out.lneg();
                return;
            }
            // the JVM uses the low six bits, as eBPF does
            case SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_ARITHMETIC -> function.getInt(alu.operand());
            default -> function.get(alu.operand());
        }
        switch (alu.operation()) {
            case ADD -> out.ladd();
            case SUBTRACT -> out.lsub();
            case MULTIPLY -> out.lmul();
            case OR -> out.lor();
            case AND -> out.land();
            case XOR -> out.lxor();
            case SHIFT_LEFT -> out.lshl();
            case SHIFT_RIGHT -> out.lushr();
            case SHIFT_RIGHT_ARITHMETIC -> out.lshr();
            case DIVIDE, DIVIDE_SIGNED, MODULO, MODULO_SIGNED -> divide(alu.operation(), CD_long);
            case NEGATE, MOVE -> throw new IllegalStateException("done above");
        }
    }

    private void narrow(Alu alu) {
        if (alu.operation() != AluOperation.MOVE) {
            function.get(alu.destination());
            out.l2i();
        }
        if (alu.operation() != AluOperation.NEGATE) {
            function.getInt(alu.operand());
        }
        switch (alu.operation()) {
            case ADD -> out.iadd();
            case SUBTRACT -> out.isub();
            case MULTIPLY -> out.imul();
            case OR -> out.ior();
            case AND -> out.iand();
            case XOR -> out.ixor();
            case SHIFT_LEFT -> out.ishl();
            case SHIFT_RIGHT -> out.iushr();
            case SHIFT_RIGHT_ARITHMETIC -> out.ishr();
            case NEGATE -> out.ineg();
            case MOVE -> {}
            case DIVIDE, DIVIDE_SIGNED, MODULO, MODULO_SIGNED -> divide(alu.operation(), CD_int);
        }
        function.zeroExtend();
    }

    private void divide(AluOperation operation, ClassDesc type) {
        String name = switch (operation) {
            case DIVIDE -> "divide";
            case DIVIDE_SIGNED -> "divideSigned";
            case MODULO -> "modulo";
            default -> "moduloSigned";
        };
        out.invokestatic(FunctionEmitter.SUPPORT, name, MethodTypeDesc.of(type, type, type));
    }

    void emit(MoveSignExtended move) {
        function.get(move.source());
        out.l2i();
        switch (move.bits()) {
            case 8 -> out.i2b();
            case 16 -> out.i2s();
            default -> {}
        }
        if (move.wide()) {
            out.i2l();
        } else {
            function.zeroExtend();
        }
        function.set(move.destination());
    }

    void emit(ByteOrder order) {
        function.get(order.destination());
        boolean swaps = order.swap() != Swap.TO_LITTLE_ENDIAN;
        if (order.bits() == 64) {
            if (swaps) {
                out.invokestatic(ConstantDescs.CD_Long, "reverseBytes", MethodTypeDesc.of(CD_long, CD_long));
            }
        } else if (order.bits() == 32) {
            out.l2i();
            if (swaps) {
                out.invokestatic(ConstantDescs.CD_Integer, "reverseBytes", MethodTypeDesc.of(CD_int, CD_int));
            }
            function.zeroExtend();
        } else {
            out.l2i().i2s();
            if (swaps) {
                out.invokestatic(ConstantDescs.CD_Short, "reverseBytes", MethodTypeDesc.of(CD_short, CD_short));
            }
            out.i2l().loadConstant(0xffffL).land();
        }
        function.set(order.destination());
    }
}
