package trigon.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import trigon.policy.elf.PolicyObject;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapSpec;

/** Puts programs together, instruction by instruction. */
public final class Code {

    private final List<Long> slots = new ArrayList<>();

    /** Any slot at all. */
    public Code slot(int opcode, int destination, int source, int offset, int immediate) {
        slots.add(Encoding.slot(opcode, destination, source, offset, immediate));
        return this;
    }

    public Code move(int destination, int source) {
        return slot(0xbf, destination, source, 0, 0);
    }

    public Code set(int destination, int value) {
        return slot(0xb7, destination, 0, 0, value);
    }

    public Code constant(int destination, long value) {
        slot(0x18, destination, 0, 0, (int) value);
        return slot(0, 0, 0, 0, (int) (value >> 32));
    }

    public Code map(int destination, int map) {
        slot(0x18, destination, Encoding.SOURCE_MAP, 0, map);
        return slot(0, 0, 0, 0, 0);
    }

    public Code load64(int destination, int base, int offset) {
        return slot(0x79, destination, base, offset, 0);
    }

    public Code store64(int base, int offset, int source) {
        return slot(0x7b, base, source, offset, 0);
    }

    public Code call(int helper) {
        return slot(0x85, 0, 0, 0, helper);
    }

    public Code exit() {
        return slot(0x95, 0, 0, 0, 0);
    }

    public Code append(Code other) {
        slots.addAll(other.slots);
        return this;
    }

    public int size() {
        return slots.size();
    }

    public long[] slots() {
        return slots.stream().mapToLong(Long::longValue).toArray();
    }

    /** An object of one program. */
    public static PolicyObject object(String section, List<MapSpec> maps, long[]... functions) {
        List<PolicyObject.Function> all = new ArrayList<>();
        for (int i = 0; i < functions.length; i++) {
            all.add(new PolicyObject.Function("f" + i, i == 0 ? section : ".text", functions[i], new TreeMap<>()));
        }
        return new PolicyObject("test.o", all, List.of(0), maps);
    }
}
