package trigon.policy.compile;

import static java.lang.constant.ConstantDescs.CD_Integer;
import static java.lang.constant.ConstantDescs.CD_Long;
import static java.lang.constant.ConstantDescs.CD_byte;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.Atomic;
import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.isa.Instruction.CallHelper;
import trigon.policy.isa.Instruction.Comparison;
import trigon.policy.isa.Instruction.Exit;
import trigon.policy.isa.Instruction.Jump;
import trigon.policy.isa.Instruction.Load;
import trigon.policy.isa.Instruction.LoadConstant;
import trigon.policy.isa.Instruction.LoadMap;
import trigon.policy.isa.Instruction.LoadMapValue;
import trigon.policy.isa.Instruction.MoveSignExtended;
import trigon.policy.isa.Instruction.Operand;
import trigon.policy.isa.Instruction.SecondHalf;
import trigon.policy.isa.Instruction.Store;
import trigon.policy.map.ArrayMap;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.map.PolicyMap;
import trigon.policy.verdict.VerifiedProgram;
import trigon.system.Memory;

/** Emits a function. Registers are local variables; the verifier made checks unnecessary. */
final class FunctionEmitter {

    static final ClassDesc MEMORY = Memory.class.describeConstable().orElseThrow();
    static final ClassDesc SUPPORT = Support.class.describeConstable().orElseThrow();

    // r1 to r5, r10, and the following two are parameters
    private static final int BUDGET = 12;
    private static final int SHADOW = 14;
    private static final int[] LOCALS = {16, 0, 2, 4, 6, 8, 18, 20, 22, 24, 10};
    private static final int[] CLEARED = {0, 6, 7, 8, 9};

    static final MethodTypeDesc TYPE =
            MethodTypeDesc.of(CD_long, CD_long, CD_long, CD_long, CD_long, CD_long, CD_long, CD_long, CD_long);

    private final CodeBuilder out;
    private final VerifiedProgram.Function function;
    private final List<PolicyMap> maps;
    private final ClassDesc self;
    private final Label[] labels;

    FunctionEmitter(CodeBuilder out, VerifiedProgram.Function function, List<PolicyMap> maps, ClassDesc self) {
        this.out = out;
        this.function = function;
        this.maps = maps;
        this.self = self;
        labels = new Label[function.code().length];
    }

    static String nameOf(int function) {
        return "f" + function;
    }

    void emit() {
        for (int slot = 0; slot < labels.length; slot++) {
            labels[slot] = out.newLabel();
        }
        for (int register : CLEARED) {
            out.lconst_0().lstore(LOCALS[register]);
        }
        boolean[] loopHeads = loopHeads();
        for (int slot = 0; slot < labels.length; slot++) {
            out.labelBinding(labels[slot]);
            if (function.facts().isVisited(slot)) {
                if (loopHeads[slot]) {
                    out.lload(BUDGET).invokestatic(SUPPORT, "spend", MethodTypeDesc.of(CD_void, CD_long));
                }
                emit(function.code()[slot], slot);
            } else if (function.flow().isReachable(slot)) {
                // the verifier showed that no run comes here
                out.lconst_0().lreturn();
            }
        }
    }

    private boolean[] loopHeads() {
        boolean[] heads = new boolean[labels.length];
        for (int slot = 0; slot < labels.length; slot++) {
            for (int next : function.flow().successors(slot)) {
                heads[next] |= next <= slot;
            }
        }
        return heads;
    }

    private void emit(Instruction instruction, int slot) {
        switch (instruction) {
            case Alu alu -> new ArithmeticEmitter(this, out).emit(alu);
            case MoveSignExtended move -> new ArithmeticEmitter(this, out).emit(move);
            case ByteOrder order -> new ArithmeticEmitter(this, out).emit(order);
            case Branch branch -> branch(branch, labels[slot + 1 + branch.offset()]);
            case Load load -> load(load);
            case Store store -> store(store);
            case Atomic atomic -> atomic(atomic);
            case LoadConstant load -> {
                out.loadConstant(load.value());
                set(load.destination());
            }
            case LoadMap load -> {
                out.loadConstant((long) load.map());
                set(load.destination());
            }
            case LoadMapValue load -> mapValue(load);
            case Jump jump -> out.goto_(labels[slot + 1 + jump.offset()]);
            case CallHelper call ->
                new HelperEmitter(this, out, maps, function.facts().maps(slot)).emit(call.helper());
            case CallFunction call -> call(call.function());
            case Exit _ -> out.lload(LOCALS[0]).lreturn();
            case SecondHalf _ -> {}
        }
    }

    void get(int register) {
        out.lload(LOCALS[register]);
    }

    void set(int register) {
        out.lstore(LOCALS[register]);
    }

    void shadow() {
        out.lload(SHADOW);
    }

    /** The run's own memory for a key. */
    void scratch() {
        out.lload(BUDGET).loadConstant((long) PolicyCode.BUDGET_BYTES).ladd();
    }

    void get(Operand operand) {
        switch (operand) {
            case Operand.Register(int number) -> get(number);
            case Operand.Constant(long value) -> out.loadConstant(value);
        }
    }

    void getInt(Operand operand) {
        switch (operand) {
            case Operand.Register(int number) -> {
                get(number);
                out.l2i();
            }
            case Operand.Constant(long value) -> out.loadConstant((int) value);
        }
    }

    /** An int on the operand stack becomes a long with the high half clear. */
    void zeroExtend() {
        out.i2l().loadConstant(0xffff_ffffL).land();
    }

    private void address(int base, int offset) {
        get(base);
        if (offset != 0) {
            out.loadConstant((long) offset).ladd();
        }
    }

    private void load(Load load) {
        address(load.base(), load.offset());
        switch (load.bytes()) {
            case 1 -> read("getByte", CD_byte);
            case 2 -> read("getShort", CD_short);
            case 4 -> read("getInt", CD_int);
            default -> read("getLong", CD_long);
        }
        if (load.bytes() < 8) {
            out.i2l();
            if (!load.signed()) {
                out.loadConstant((1L << (8 * load.bytes())) - 1).land();
            }
        }
        set(load.destination());
    }

    private void read(String name, ClassDesc type) {
        out.invokestatic(MEMORY, name, MethodTypeDesc.of(type, CD_long));
    }

    private void store(Store store) {
        address(store.base(), store.offset());
        if (store.bytes() == 8) {
            get(store.value());
            out.invokestatic(MEMORY, "putLong", MethodTypeDesc.of(CD_void, CD_long, CD_long));
            return;
        }
        getInt(store.value());
        switch (store.bytes()) {
            case 1 -> out.i2b();
            case 2 -> out.i2s();
            default -> {}
        }
        String name = store.bytes() == 1 ? "putByte" : store.bytes() == 2 ? "putShort" : "putInt";
        ClassDesc type = store.bytes() == 1 ? CD_byte : store.bytes() == 2 ? CD_short : CD_int;
        out.invokestatic(MEMORY, name, MethodTypeDesc.of(CD_void, CD_long, type));
    }

    private void atomic(Atomic atomic) {
        address(atomic.base(), atomic.offset());
        String name = switch (atomic.operation()) {
            case ADD -> "add";
            case OR -> "or";
            case AND -> "and";
            case XOR -> "xor";
            case EXCHANGE -> "exchange";
            case COMPARE_AND_EXCHANGE -> "compareAndExchange";
        };
        if (name.equals("compareAndExchange")) {
            get(0);
            get(atomic.source());
            out.invokestatic(SUPPORT, name + atomic.bytes(), MethodTypeDesc.of(CD_long, CD_long, CD_long, CD_long));
            set(0);
            return;
        }
        get(atomic.source());
        out.invokestatic(SUPPORT, name + atomic.bytes(), MethodTypeDesc.of(CD_long, CD_long, CD_long));
        if (atomic.fetch()) {
            set(atomic.source());
        } else {
            out.pop2();
        }
    }

    private void mapValue(LoadMapValue load) {
        if (!(maps.get(load.map()) instanceof ArrayMap map) || map.spec().type() != MapType.ARRAY) {
            throw new IllegalStateException("only arrays have values with fixed addresses");
        }
        out.loadConstant(map.base() + load.offset());
        if (!map.spec().readOnly()) {
            shadow();
            out.loadConstant(map.shadowBytes()).land().ladd();
        }
        set(load.destination());
    }

    private void branch(Branch branch, Label target) {
        Comparison comparison = branch.comparison();
        if (branch.wide()) {
            get(branch.left());
            get(branch.right());
        } else {
            get(branch.left());
            out.l2i();
            getInt(branch.right());
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

    private void call(int called) {
        for (int register = 1; register <= 5; register++) {
            get(register);
        }
        get(10);
        out.loadConstant((long) function.facts().stackBytes()).lsub();
        out.lload(BUDGET).lload(SHADOW).invokestatic(self, nameOf(called), TYPE);
        set(0);
    }
}
