package trigon.policy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.policy.isa.Encoding;

/**
 * Turns the notation of conformance data into instructions: {@code add32 %r1, 5}, {@code ldxw %r0, [%r1+4]},
 * {@code lock fetch add [%r10-8], %r1}, {@code jeq %r1, 7, label}. An exit is a label, too. Calls of functions get the
 * distance to them.
 */
final class Assembler {

    private static final List<String> ALU =
            List.of("add", "sub", "mul", "div", "or", "and", "lsh", "rsh", "neg", "mod", "xor", "mov", "arsh");
    private static final List<String> JUMPS = List.of(
            "ja", "jeq", "jgt", "jge", "jset", "jne", "jsgt", "jsge", "call", "exit", "jlt", "jle", "jslt", "jsle");
    private static final List<String> SIZES = List.of("w", "h", "b", "dw");
    private static final Map<String, Integer> ATOMICS =
            Map.of("add", 0x00, "or", 0x40, "and", 0x50, "xor", 0xa0, "xchg", 0xe1, "cmpxchg", 0xf1);

    private static final Pattern ACCESS = Pattern.compile("(ldx|ldxs|st|stx)(b|h|w|dw)");
    private static final Pattern ORDER = Pattern.compile("(le|be|swap|bswap)(16|32|64)");
    private static final Pattern EXTENSION = Pattern.compile("movsx(8|16|32)(32|64)");
    private static final Pattern WIDTH = Pattern.compile("([a-z]+)(32|64)?");
    private static final Pattern MEMORY = Pattern.compile("\\[(%r\\d+)(?:([+-])(\\w+))?]");
    private static final Pattern REGISTER = Pattern.compile("%r(\\d|10)");

    private static final int FETCH = 1;
    private static final int REGISTER_OPERAND = 8;
    private static final int CALL_REGISTER = 0x8d;

    private final List<Long> slots = new ArrayList<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final Map<Integer, String> jumps = new HashMap<>();

    /** Text that is no instruction. */
    static final class SyntaxException extends Exception {
        private static final long serialVersionUID = 1;

        SyntaxException(String message) {
            super(message);
        }
    }

    private Assembler() {}

    static long[] assemble(List<String> lines) throws SyntaxException {
        Assembler assembler = new Assembler();
        for (String line : lines) {
            if (line.endsWith(":")) {
                assembler.labels.put(line.substring(0, line.length() - 1), assembler.slots.size());
            } else if (!line.isBlank()) {
                try {
                    assembler.instruction(line);
                } catch (IndexOutOfBoundsException | NumberFormatException e) {
                    throw new SyntaxException(line + ": " + e.getMessage());
                }
            }
        }
        assembler.resolve();
        return assembler.slots.stream().mapToLong(Long::longValue).toArray();
    }

    private void instruction(String line) throws SyntaxException {
        String[] words = line.strip().split("[\\s,]+", 0);
        String name = words[0];
        Matcher access = ACCESS.matcher(name);
        Matcher order = ORDER.matcher(name);
        Matcher extension = EXTENSION.matcher(name);
        if (name.equals("lddw")) {
            long value = Long.parseUnsignedLong(plain(words[2]), radix(words[2]));
            add(Encoding.LOAD_CONSTANT, register(words[1]), 0, 0, (int) value);
            add(0, 0, 0, 0, (int) (value >> 32));
        } else if (name.equals("lock")) {
            atomic(words);
        } else if (access.matches()) {
            access(access.group(1), SIZES.indexOf(access.group(2)) << 3, words);
        } else if (order.matches()) {
            int opcode = order.group(1).endsWith("swap") ? 0xd7 : order.group(1).equals("le") ? 0xd4 : 0xdc;
            add(opcode, register(words[1]), 0, 0, Integer.parseInt(order.group(2)));
        } else if (extension.matches()) {
            int opcode = extension.group(2).equals("64") ? 0xbf : 0xbc;
            add(opcode, register(words[1]), register(words[2]), Integer.parseInt(extension.group(1)), 0);
        } else {
            arithmeticOrJump(name, words);
        }
    }

    private void access(String kind, int size, String[] words) throws SyntaxException {
        boolean loads = kind.startsWith("ldx");
        Matcher memory = memory(words[loads ? 2 : 1]);
        int base = register(memory.group(1));
        switch (kind) {
            case "ldx" -> add(0x61 | size, register(words[1]), base, offset(memory), 0);
            case "ldxs" -> add(0x81 | size, register(words[1]), base, offset(memory), 0);
            case "st" -> add(0x62 | size, base, 0, offset(memory), immediate(words[2]));
            default -> add(0x63 | size, base, register(words[2]), offset(memory), 0);
        }
    }

    private void atomic(String[] words) throws SyntaxException {
        boolean fetches = words[1].equals("fetch");
        int at = fetches ? 2 : 1;
        boolean narrow = words[at].endsWith("32");
        Integer operation = ATOMICS.get(narrow ? words[at].substring(0, words[at].length() - 2) : words[at]);
        if (operation == null) {
            throw new SyntaxException("unknown atomic operation " + words[at]);
        }
        Matcher memory = memory(words[at + 1]);
        int source = register(words[at + 2]);
        add(
                narrow ? 0xc3 : 0xdb,
                register(memory.group(1)),
                source,
                offset(memory),
                fetches ? operation | FETCH : operation);
    }

    private void arithmeticOrJump(String name, String[] words) throws SyntaxException {
        Matcher width = WIDTH.matcher(name);
        String base = width.matches() ? width.group(1) : name;
        boolean narrow = "32".equals(width.matches() ? width.group(2) : null);
        boolean signed = base.equals("sdiv") || base.equals("smod");
        int alu = ALU.indexOf(signed ? base.substring(1) : base);
        int jump = JUMPS.indexOf(base);
        if (alu >= 0) {
            int opcode = alu << 4 | (narrow ? 4 : 7);
            operand(opcode, register(words[1]), base.equals("neg") ? "0" : words[2], signed ? 1 : 0);
        } else if (base.equals("ja")) {
            jumpTo(words[1]);
            add(narrow ? 0x06 : 0x05, 0, 0, 0, 0);
        } else if (base.equals("call")) {
            call(words);
        } else if (base.equals("exit")) {
            labels.put("exit", slots.size());
            add(0x95, 0, 0, 0, 0);
        } else if (jump >= 0) {
            jumpTo(words[3]);
            operand(jump << 4 | (narrow ? 6 : 5), register(words[1]), words[2], 0);
        } else {
            throw new SyntaxException("unknown instruction " + name);
        }
    }

    private void call(String[] words) throws SyntaxException {
        if (words[1].equals("local")) {
            jumpTo(words[2]);
            add(Encoding.CALL, 0, Encoding.SOURCE_FUNCTION, 0, 0);
        } else if (words[1].startsWith("%")) {
            add(CALL_REGISTER, register(words[1]), 0, 0, 0);
        } else {
            add(Encoding.CALL, 0, 0, 0, immediate(words[1]));
        }
    }

    private void operand(int opcode, int destination, String text, int offset) throws SyntaxException {
        if (text.startsWith("%")) {
            add(opcode | REGISTER_OPERAND, destination, register(text), offset, 0);
        } else {
            add(opcode, destination, 0, offset, immediate(text));
        }
    }

    private void add(int opcode, int destination, int source, int offset, int immediate) {
        slots.add(Encoding.slot(opcode, destination, source, offset, immediate));
    }

    private void jumpTo(String target) {
        jumps.put(slots.size(), target);
    }

    private void resolve() throws SyntaxException {
        for (Map.Entry<Integer, String> jump : jumps.entrySet()) {
            int from = jump.getKey();
            String target = jump.getValue();
            Integer label = labels.get(target);
            if (label == null && !target.matches("[+-]\\w+")) {
                throw new SyntaxException("no label " + target);
            }
            int distance = label != null ? label - from - 1 : immediate(target);
            long slot = slots.get(from);
            int opcode = Encoding.opcode(slot);
            slots.set(
                    from,
                    opcode == 0x06 || opcode == Encoding.CALL
                            ? Encoding.relocated(slot, Encoding.source(slot), distance)
                            : slot | (distance & 0xffffL) << 16);
        }
    }

    private static int register(String text) throws SyntaxException {
        Matcher register = REGISTER.matcher(text);
        if (!register.matches()) {
            throw new SyntaxException(text + " is no register");
        }
        return Integer.parseInt(register.group(1));
    }

    private static Matcher memory(String text) throws SyntaxException {
        Matcher memory = MEMORY.matcher(text);
        if (!memory.matches()) {
            throw new SyntaxException(text + " is no address");
        }
        return memory;
    }

    private static int offset(Matcher memory) throws SyntaxException {
        int offset = memory.group(3) == null ? 0 : immediate(memory.group(2) + memory.group(3));
        if (offset != (short) offset) {
            throw new SyntaxException("the offset " + offset + " has more than 16 bits");
        }
        return offset;
    }

    /** 32 bits: hexadecimal ones may be unsigned. */
    private static int immediate(String text) throws SyntaxException {
        long value = Long.parseLong(plain(text), radix(text));
        long most = radix(text) == 16 ? 0xffff_ffffL : Integer.MAX_VALUE;
        if (value < Integer.MIN_VALUE || value > most) {
            throw new SyntaxException(text + " has more than 32 bits");
        }
        return (int) value;
    }

    private static String plain(String text) {
        return text.replaceFirst("0[xX]", "");
    }

    private static int radix(String text) {
        return text.matches("[+-]?0[xX].*") ? 16 : 10;
    }
}
