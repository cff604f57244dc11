package trigon.policy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import trigon.policy.elf.PolicyObject;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;

/**
 * A file of conformance data: a program, the memory that it gets (r1 is its address, r2 its size), and the result. Its
 * parts begin with {@code -- asm}, {@code -- raw}, {@code -- mem}, {@code -- result} or {@code -- error}; what follows
 * {@code #} is a comment.
 *
 * @param name of the file
 * @param code its instructions; calls of functions have the distance to them
 * @param memory empty if there is none
 * @param result empty if the program has to be refused
 */
@SuppressWarnings("ArrayRecordComponent") // of a test
record ConformanceCase(String name, long[] code, byte[] memory, OptionalLong result) {

    private static final Set<String> IGNORED = Set.of("c", "no register offset");
    private static final Set<String> PARTS = Set.of("asm", "raw", "mem", "result", "error");

    /** @throws Assembler.SyntaxException if the file does not have this form, or its program cannot be assembled */
    static ConformanceCase read(Path file) throws IOException, Assembler.SyntaxException {
        Map<String, List<String>> parts = parts(Files.readAllLines(file));
        long[] raw = parts.containsKey("raw") ? raw(parts.get("raw")) : null;
        long[] code = parts.containsKey("asm") ? Assembler.assemble(parts.get("asm")) : raw;
        if (code == null || code.length == 0) {
            throw new Assembler.SyntaxException("no instructions");
        }
        if (raw != null && !Arrays.equals(code, raw)) {
            throw new AssertionError(file + " is assembled to something else than its raw instructions");
        }
        return new ConformanceCase(
                String.valueOf(file.getFileName()),
                code,
                memory(parts),
                parts.containsKey("error") ? OptionalLong.empty() : OptionalLong.of(result(parts)));
    }

    private static Map<String, List<String>> parts(List<String> lines) throws Assembler.SyntaxException {
        Map<String, List<String>> parts = new TreeMap<>();
        List<String> part = new ArrayList<>();
        for (String line : lines) {
            String text = line.replaceFirst("#.*", "").strip();
            if (text.startsWith("--")) {
                String name = text.substring(2).strip();
                if (!PARTS.contains(name) && !IGNORED.contains(name)) {
                    throw new Assembler.SyntaxException("unknown part " + name);
                }
                part = parts.computeIfAbsent(name, _ -> new ArrayList<>());
            } else if (!text.isEmpty()) {
                part.add(text);
            }
        }
        return parts;
    }

    /** Numbers of 64 bits in hexadecimal, or bytes. */
    private static long[] raw(List<String> lines) {
        String all = String.join(" ", lines);
        if (all.contains("0x")) {
            return Arrays.stream(all.split("\\s+", 0))
                    .mapToLong(each -> Long.parseUnsignedLong(each.substring(2), 16))
                    .toArray();
        }
        byte[] bytes = bytes(all);
        long[] slots = new long[bytes.length / Long.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(slots);
        return slots;
    }

    private static byte[] memory(Map<String, List<String>> parts) {
        return bytes(String.join(" ", parts.getOrDefault("mem", List.of())));
    }

    private static byte[] bytes(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String each : text.strip().split("\\s+", 0)) {
            bytes.writeBytes(HexFormat.of().parseHex(each));
        }
        return bytes.toByteArray();
    }

    private static long result(Map<String, List<String>> parts) throws Assembler.SyntaxException {
        String text = String.join("", parts.getOrDefault("result", List.of()));
        if (text.isEmpty()) {
            throw new Assembler.SyntaxException("no result");
        }
        return text.startsWith("0x") ? Long.parseUnsignedLong(text.substring(2), 16) : Long.parseLong(text);
    }

    /** The program, behind instructions that give it its memory, which is the value of a map. */
    PolicyObject object() {
        Code start = new Code();
        if (memory.length > 0) {
            start.slot(Encoding.LOAD_CONSTANT, 1, Encoding.SOURCE_MAP_VALUE, 0, 0)
                    .slot(0, 0, 0, 0, 0);
        } else {
            start.set(1, 0);
        }
        start.set(2, memory.length);
        long[] all = new long[start.size() + code.length];
        System.arraycopy(start.slots(), 0, all, 0, start.size());
        System.arraycopy(code, 0, all, start.size(), code.length);
        List<MapSpec> maps = memory.length == 0
                ? List.of()
                : List.of(new MapSpec("memory", MapType.ARRAY, Integer.BYTES, memory.length, 1, false, memory));
        return new PolicyObject(name, functions(all), List.of(0), maps);
    }

    /** A function begins where it is called, and ends where the next one begins. */
    private static List<PolicyObject.Function> functions(long[] code) {
        TreeSet<Integer> starts = new TreeSet<>(Set.of(0));
        for (int slot = 0; slot < code.length; slot++) {
            if (callsFunction(code[slot])) {
                starts.add(slot + 1 + Encoding.immediate(code[slot]));
            }
        }
        List<Integer> order = List.copyOf(starts);
        List<PolicyObject.Function> functions = new ArrayList<>();
        for (int start : order) {
            Integer end = starts.higher(start);
            long[] body = Arrays.copyOfRange(code, start, end == null ? code.length : end);
            for (int i = 0; i < body.length; i++) {
                if (callsFunction(body[i])) {
                    int target = start + i + 1 + Encoding.immediate(body[i]);
                    body[i] = Encoding.relocated(body[i], Encoding.SOURCE_FUNCTION, order.indexOf(target));
                }
            }
            functions.add(new PolicyObject.Function("f" + start, start == 0 ? "test" : ".text", body, new TreeMap<>()));
        }
        return functions;
    }

    private static boolean callsFunction(long slot) {
        return Encoding.opcode(slot) == Encoding.CALL && Encoding.source(slot) == Encoding.SOURCE_FUNCTION;
    }
}
