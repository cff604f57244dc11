package trigon.policy.compile;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.constant.ConstantDescs.MTD_void;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import trigon.policy.map.PolicyMap;
import trigon.policy.verdict.VerifiedProgram;

/** Compiles verified programs. Thread-safe. */
public final class Compiler {

    /** HotSpot leaves larger methods to its interpreter ({@code -XX:-DontCompileHugeMethods}). */
    private static final int HUGE_METHOD_BYTES = 8000;

    private static final ClassDesc SELF = ClassDesc.of("trigon.policy.compile.CompiledPolicy");
    private static final ClassDesc CODE = PolicyCode.class.describeConstable().orElseThrow();
    private static final String RUN = "run";

    private Compiler() {}

    /**
     * A class of its own for a program; it is unloaded once nothing refers to the result.
     *
     * @param maps those the object declares, in its order
     * @param budget how often a run may go round its loops
     * @throws CompilationException if a function is too large for the JVM to compile
     */
    public static PolicyCode compile(VerifiedProgram program, List<PolicyMap> maps, long budget)
            throws CompilationException {
        byte[] bytes;
        try {
            bytes = ClassFile.of().build(SELF, type -> emit(type, program, maps, budget));
        } catch (IllegalArgumentException e) {
            throw tooLarge(program.name(), "more than 64 KiB");
        }
        checkSizes(bytes, program);
        try {
            return (PolicyCode) MethodHandles.lookup()
                    .defineHiddenClassWithClassData(bytes, List.copyOf(maps), true)
                    .lookupClass()
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the compiled class has no constructor", e);
        }
    }

    private static void emit(ClassBuilder type, VerifiedProgram program, List<PolicyMap> maps, long budget) {
        type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_PUBLIC).withInterfaceSymbols(CODE);
        type.withMethodBody(
                INIT_NAME,
                MTD_void,
                ClassFile.ACC_PUBLIC,
                code -> code.aload(0)
                        .invokespecial(CD_Object, INIT_NAME, MTD_void)
                        .return_());
        type.withMethodBody(
                RUN,
                MethodTypeDesc.of(CD_long, CD_long, CD_long, CD_long),
                ClassFile.ACC_PUBLIC,
                code -> run(code, program.entry(), budget));
        for (Map.Entry<Integer, VerifiedProgram.Function> function :
                program.functions().entrySet()) {
            type.withMethodBody(
                    FunctionEmitter.nameOf(function.getKey()),
                    FunctionEmitter.TYPE,
                    ClassFile.ACC_STATIC,
                    code -> new FunctionEmitter(code, function.getValue(), maps, SELF).emit());
        }
    }

    /** {@code run(context, stackTop, shadow)}: the word behind the stack counts the rounds of loops that are left. */
    private static void run(CodeBuilder code, int entry, long budget) {
        int context = 1;
        int stackTop = 3;
        int shadow = 5;
        code.lload(stackTop)
                .loadConstant(budget)
                .invokestatic(FunctionEmitter.MEMORY, "putLong", MethodTypeDesc.of(CD_void, CD_long, CD_long));
        code.lload(context).lconst_0().lconst_0().lconst_0().lconst_0();
        code.lload(stackTop).lload(stackTop).lload(shadow);
        code.invokestatic(SELF, FunctionEmitter.nameOf(entry), FunctionEmitter.TYPE)
                .lreturn();
    }

    private static void checkSizes(byte[] bytes, VerifiedProgram program) throws CompilationException {
        for (MethodModel method : ClassFile.of().parse(bytes).methods()) {
            int size = method.code()
                    .map(code -> ((CodeAttribute) code).codeLength())
                    .orElse(0);
            String name = method.methodName().stringValue();
            if (size > HUGE_METHOD_BYTES && !name.equals(RUN)) {
                int index = Integer.parseInt(name.substring(1));
                throw tooLarge(program.object().functions().get(index).name(), Integer.toString(size));
            }
        }
    }

    private static CompilationException tooLarge(String function, String bytes) {
        return new CompilationException(
                ("function %s becomes %s bytes of bytecode; the JVM compiles methods of up to %d only. Move a part of"
                                + " it into a function of its own, declared static __attribute__((noinline))")
                        .formatted(function, bytes, HUGE_METHOD_BYTES));
    }

    /** A verified program that the JVM could not run fast. */
    public static final class CompilationException extends Exception {

        private static final long serialVersionUID = 1;

        CompilationException(String message) {
            super(message);
        }
    }
}
