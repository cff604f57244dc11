package trigon.policy.compile;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import trigon.policy.compile.PolicyCode.BudgetExceededException;
import trigon.policy.map.PolicyMap;
import trigon.system.Memory;

/** Calls of compiled programs besides maps and plain memory: all that takes more than a bytecode or two. */
final class Support {

    private static final MemorySegment ALL = Memory.segment(0, Long.MAX_VALUE);
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private Support() {}

    static void spend(long budget) {
        long left = Memory.getLong(budget) - 1;
        if (left < 0) {
            throw BudgetExceededException.INSTANCE;
        }
        Memory.putLong(budget, left);
    }

    static PolicyMap map(List<PolicyMap> maps, long index) {
        return maps.get((int) index);
    }

    static long time() {
        return System.nanoTime();
    }

    static long random() {
        return ThreadLocalRandom.current().nextInt() & 0xffff_ffffL;
    }

    static long divide(long a, long b) {
        return b == 0 ? 0 : Long.divideUnsigned(a, b);
    }

    static long divideSigned(long a, long b) {
        return b == 0 ? 0 : a / b;
    }

    static long modulo(long a, long b) {
        return b == 0 ? a : Long.remainderUnsigned(a, b);
    }

    static long moduloSigned(long a, long b) {
        return b == 0 ? a : a % b;
    }

    static int divide(int a, int b) {
        return b == 0 ? 0 : Integer.divideUnsigned(a, b);
    }

    static int divideSigned(int a, int b) {
        return b == 0 ? 0 : a / b;
    }

    static int modulo(int a, int b) {
        return b == 0 ? a : Integer.remainderUnsigned(a, b);
    }

    static int moduloSigned(int a, int b) {
        return b == 0 ? a : a % b;
    }

    static long add8(long address, long value) {
        return (long) LONG.getAndAdd(ALL, address, value);
    }

    static long or8(long address, long value) {
        return (long) LONG.getAndBitwiseOr(ALL, address, value);
    }

    static long and8(long address, long value) {
        return (long) LONG.getAndBitwiseAnd(ALL, address, value);
    }

    static long xor8(long address, long value) {
        return (long) LONG.getAndBitwiseXor(ALL, address, value);
    }

    static long exchange8(long address, long value) {
        return (long) LONG.getAndSet(ALL, address, value);
    }

    static long compareAndExchange8(long address, long expected, long value) {
        return (long) LONG.compareAndExchange(ALL, address, expected, value);
    }

    static long add4(long address, long value) {
        return Integer.toUnsignedLong((int) INT.getAndAdd(ALL, address, (int) value));
    }

    static long or4(long address, long value) {
        return Integer.toUnsignedLong((int) INT.getAndBitwiseOr(ALL, address, (int) value));
    }

    static long and4(long address, long value) {
        return Integer.toUnsignedLong((int) INT.getAndBitwiseAnd(ALL, address, (int) value));
    }

    static long xor4(long address, long value) {
        return Integer.toUnsignedLong((int) INT.getAndBitwiseXor(ALL, address, (int) value));
    }

    static long exchange4(long address, long value) {
        return Integer.toUnsignedLong((int) INT.getAndSet(ALL, address, (int) value));
    }

    static long compareAndExchange4(long address, long expected, long value) {
        return Integer.toUnsignedLong((int) INT.compareAndExchange(ALL, address, (int) expected, (int) value));
    }
}
