package trigon.policy.elf;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.policy.elf.ElfFile.Section;
import trigon.policy.elf.ElfFile.Symbol;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapSpec;

/**
 * Relocations of a code section. A call into another section keeps, until the functions are cut out, that section's
 * number in its offset field, which calls do not use.
 */
@SuppressWarnings("ArrayRecordComponent") // changed in place, which is its purpose
record SlotRelocation(
        Reader section,
        long[] slots,
        BitSet relocated,
        List<MapSpec> maps,
        Map<String, Integer> declaredMaps,
        Map<Integer, Integer> dataMaps,
        ElfFile elf) {

    private static final int R_BPF_64_64 = 1;
    private static final int R_BPF_64_32 = 10;

    /** The target of a call: a slot of a section. */
    record Call(int section, long slot) {}

    void apply(long offset, int type, Symbol symbol) throws ObjectException {
        if (offset < 0 || offset % 8 != 0 || offset / 8 >= slots.length) {
            throw section.defect(offset, "a relocation of no instruction");
        }
        int slot = (int) (offset / 8);
        int opcode = Encoding.opcode(slots[slot]);
        if (type == R_BPF_64_64 && opcode == Encoding.LOAD_CONSTANT && slot + 1 < slots.length) {
            data(offset, slot, symbol);
            relocated.set(slot);
        } else if (type == R_BPF_64_32 && opcode == Encoding.CALL) {
            call(offset, slot, symbol);
        } else {
            throw section.defect(offset, "a relocation of type %d for opcode 0x%02x".formatted(type, opcode));
        }
    }

    private void data(long offset, int slot, Symbol symbol) throws ObjectException {
        Integer declared = declaredMaps.get(symbol.name());
        if (declared != null && nameOf(symbol).equals(".maps")) {
            slots[slot] = Encoding.relocated(slots[slot], Encoding.SOURCE_MAP, declared);
            slots[slot + 1] = 0;
            return;
        }
        Integer data = dataMaps.get(symbol.section());
        if (data == null) {
            throw section.defect(
                    offset,
                    symbol.section() == 0
                            ? "the symbol %s is not defined in this object".formatted(symbol.name())
                            : "the symbol %s is in section %s, which cannot be used"
                                    .formatted(symbol.name(), nameOf(symbol)),
                    "define it there, as a map or a variable");
        }
        // the place holds what is added to the symbol
        long at = symbol.value() + Encoding.immediate(slots[slot]);
        if (at < 0 || at > maps.get(data).valueBytes()) {
            throw section.defect(offset, "an address beyond the end of section " + nameOf(symbol));
        }
        slots[slot] = Encoding.relocated(slots[slot], Encoding.SOURCE_MAP_VALUE, data);
        slots[slot + 1] = Encoding.slot(0, 0, 0, 0, (int) at);
    }

    private void call(long offset, int slot, Symbol symbol) throws ObjectException {
        if (symbol.section() == 0 || symbol.section() > Short.MAX_VALUE) {
            throw section.defect(
                    offset,
                    "the function %s is not defined in this object".formatted(symbol.name()),
                    "define it in the same source");
        }
        long target = symbol.value() / 8 + Encoding.immediate(slots[slot]) + 1L;
        slots[slot] = Encoding.slot(Encoding.CALL, 0, Encoding.SOURCE_FUNCTION, symbol.section(), (int) target);
    }

    private String nameOf(Symbol symbol) {
        Section of = elf.sections().get(symbol.section());
        return of.name();
    }

    /** The target of a slot's call, or null if it is no call of a function. */
    static @Nullable Call call(long encoded, int section, int slot) {
        if (Encoding.opcode(encoded) != Encoding.CALL || Encoding.source(encoded) != Encoding.SOURCE_FUNCTION) {
            return null;
        }
        int relocated = Encoding.offset(encoded);
        return relocated != 0
                ? new Call(relocated, Encoding.immediate(encoded))
                : new Call(section, slot + 1L + Encoding.immediate(encoded));
    }

    static long calling(long encoded, int function) {
        return Encoding.slot(Encoding.CALL, Encoding.destination(encoded), Encoding.SOURCE_FUNCTION, 0, function);
    }
}
