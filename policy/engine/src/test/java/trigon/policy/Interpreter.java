package trigon.policy;

import java.util.ArrayList;
import java.util.List;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.PolicyMap;
import trigon.policy.map.RingBuffer;
import trigon.system.Memory;

/**
 * Runs programs as plainly as possible, from their bytes: shares no code with decoder, verifier and compiler. Checks
 * every access, so that a verifier that accepts too much shows.
 */
final class Interpreter {

    private static final long LOW = 0xffff_ffffL;

    private final PolicyObject object;
    private final List<PolicyMap> maps;
    private final List<long[]> allowed = new ArrayList<>();
    private long steps;

    /** The program did what no accepted program may do. */
    static final class Trap extends RuntimeException {
        private static final long serialVersionUID = 1;

        Trap(String message) {
            super(message);
        }
    }

    Interpreter(PolicyObject object, List<PolicyMap> maps, long maxSteps) {
        this.object = object;
        this.maps = maps;
        steps = maxSteps;
        for (PolicyMap map : maps) {
            allow(map.memory().address(), map.memory().byteSize() / 2);
        }
    }

    void allow(long address, long bytes) {
        allowed.add(new long[] {address, address + bytes});
    }

    long run(int function, long context, long stackTop) {
        return run(function, new long[] {0, context, 0, 0, 0, 0, 0, 0, 0, 0, stackTop}, 0);
    }

    private long run(int function, long[] r, int depth) {
        long[] code = object.functions().get(function).code();
        int pc = 0;
        while (true) {
            if (--steps < 0) {
                throw new Trap("does not end");
            }
            if (pc < 0 || pc >= code.length) {
                throw new Trap("leaves its code");
            }
            long slot = code[pc++];
            int op = (int) slot & 0xff;
            int dst = (int) (slot >> 8) & 15;
            int src = (int) (slot >> 12) & 15;
            int off = (short) (slot >> 16);
            int imm = (int) (slot >> 32);
            long operand = (op & 8) != 0 ? r[src] : imm;
            switch (op & 7) {
                case 0 -> {
                    long next = code[pc++];
                    long high = next >> 32;
                    r[dst] = switch (src) {
                        case 0 -> (imm & LOW) + (high << 32);
                        case 1 -> imm;
                        default -> maps.get(imm).memory().address() + high;
                    };
                }
                case 1 -> {
                    long at = check(r[src] + off, size(op));
                    long raw = read(at, size(op));
                    boolean signed = (op & 0xe0) == 0x80;
                    r[dst] = signed ? extend(raw, 8 * size(op)) : raw;
                }
                case 2 -> write(check(r[dst] + off, size(op)), size(op), imm);
                case 3 -> {
                    long at = check(r[dst] + off, size(op));
                    if ((op & 0xe0) == 0xc0) {
                        atomic(r, at, size(op), imm, src);
                    } else {
                        write(at, size(op), r[src]);
                    }
                }
                case 4, 7 -> {
                    if (op >> 4 == 0xd) {
                        r[dst] = order(op, r[dst], imm);
                    } else if ((op & 7) == 4) {
                        r[dst] = alu32(op, r[dst], operand, off) & LOW;
                    } else {
                        r[dst] = alu64(op, r[dst], operand, off);
                    }
                }
                default -> {
                    boolean wide = (op & 7) == 5;
                    int kind = op >> 4;
                    if (kind == 9) {
                        return r[0];
                    } else if (kind == 8) {
                        r[0] = src == 1 ? call(imm, r, depth) : helper(imm, r);
                    } else if (kind == 0) {
                        pc += wide ? off : imm;
                    } else if (holds(kind, wide ? r[dst] : r[dst] & LOW, wide ? operand : operand & LOW, wide)) {
                        pc += off;
                    }
                }
            }
        }
    }

    private long call(int function, long[] r, int depth) {
        if (depth > 8) {
            throw new Trap("too deep");
        }
        // a distance of its own: the interpreter does not know how much stack the function uses
        return run(function, new long[] {0, r[1], r[2], r[3], r[4], r[5], 0, 0, 0, 0, r[10] - 512}, depth + 1);
    }

    private long check(long address, int bytes) {
        for (long[] range : allowed) {
            if (address >= range[0] && address + bytes <= range[1]) {
                return address;
            }
        }
        throw new Trap("an access to what is not allowed");
    }

    private static int size(int op) {
        return new int[] {4, 2, 1, 8}[op >> 3 & 3];
    }

    private static long read(long at, int bytes) {
        long value = 0;
        for (int i = bytes - 1; i >= 0; i--) {
            value = value * 256 + (Memory.getByte(at + i) & 255);
        }
        return value;
    }

    private static void write(long at, int bytes, long value) {
        for (int i = 0; i < bytes; i++) {
            Memory.putByte(at + i, (byte) (value >> (8 * i)));
        }
    }

    private static long extend(long value, int bits) {
        return (value << (64 - bits)) >> (64 - bits);
    }

    private static void atomic(long[] r, long at, int bytes, int imm, int src) {
        long old = read(at, bytes);
        long mask = bytes == 8 ? -1 : LOW;
        long source = r[src];
        switch (imm & 0xf0) {
            case 0x00 -> write(at, bytes, old + source);
            case 0x40 -> write(at, bytes, old | source);
            case 0x50 -> write(at, bytes, old & source);
            case 0xa0 -> write(at, bytes, old ^ source);
            case 0xe0 -> write(at, bytes, source);
            default -> {
                if (old == (r[0] & mask)) {
                    write(at, bytes, source);
                }
                r[0] = old;
                return;
            }
        }
        if ((imm & 1) != 0) {
            r[src] = old;
        }
    }

    private static long alu32(int op, long left, long right, int off) {
        int a = (int) left;
        int b = (int) right;
        return switch (op >> 4) {
            case 0x0 -> a + b;
            case 0x1 -> a - b;
            case 0x2 -> (long) a * b;
            case 0x3 -> b == 0 ? 0 : off == 1 ? a / b : (a & LOW) / (b & LOW);
            case 0x4 -> a | b;
            case 0x5 -> a & b;
            case 0x6 -> a << (b & 31);
            case 0x7 -> a >>> (b & 31);
            case 0x8 -> -a;
            case 0x9 -> b == 0 ? a : off == 1 ? a % b : (a & LOW) % (b & LOW);
            case 0xa -> a ^ b;
            case 0xb -> off == 0 ? b : extend(b, off);
            case 0xc -> a >> (b & 31);
            default -> throw new Trap("32-bit operation " + op);
        };
    }

    private static long alu64(int op, long a, long b, int off) {
        return switch (op >> 4) {
            case 0x0 -> a + b;
            case 0x1 -> a - b;
            case 0x2 -> a * b;
            case 0x3 -> b == 0 ? 0 : off == 1 ? a / b : Long.divideUnsigned(a, b);
            case 0x4 -> a | b;
            case 0x5 -> a & b;
            case 0x6 -> a << (b & 63);
            case 0x7 -> a >>> (b & 63);
            case 0x8 -> -a;
            case 0x9 -> b == 0 ? a : off == 1 ? a % b : Long.remainderUnsigned(a, b);
            case 0xa -> a ^ b;
            case 0xb -> off == 0 ? b : extend(b, off);
            case 0xc -> a >> (b & 63);
            default -> throw new Trap("64-bit operation " + op);
        };
    }

    /** 0xd4 is to little endian, which this host is; 0xdc to big endian; 0xd7 swaps always. */
    private static long order(int op, long value, int bits) {
        long result = 0;
        for (int i = 0; i < bits / 8; i++) {
            long one = (value >> (8 * i)) & 255;
            result |= one << (8 * (op == 0xd4 ? i : bits / 8 - 1 - i));
        }
        return result;
    }

    private static boolean holds(int kind, long a, long b, boolean wide) {
        int unsigned = Long.compareUnsigned(a, b);
        int signed = wide ? Long.compare(a, b) : Integer.compare((int) a, (int) b);
        return switch (kind) {
            case 0x1 -> a == b;
            case 0x2 -> unsigned > 0;
            case 0x3 -> unsigned >= 0;
            case 0x4 -> (a & b) != 0;
            case 0x5 -> a != b;
            case 0x6 -> signed > 0;
            case 0x7 -> signed >= 0;
            case 0xa -> unsigned < 0;
            case 0xb -> unsigned <= 0;
            case 0xc -> signed < 0;
            case 0xd -> signed <= 0;
            default -> throw new Trap("comparison " + kind);
        };
    }

    private long helper(int number, long[] r) {
        return switch (number) {
            case 1 -> maps.get((int) r[1]).lookup(r[2], 0, r[2]);
            case 2 -> maps.get((int) r[1]).update(r[2], r[3], r[4], 0, r[2]);
            case 3 -> maps.get((int) r[1]).delete(r[2], 0, r[2]);
            case 130 -> ((RingBuffer) maps.get((int) r[1])).output(r[2], r[3], r[4], 0);
            default -> throw new Trap("helper " + number);
        };
    }
}
