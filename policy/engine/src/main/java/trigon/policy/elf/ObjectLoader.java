package trigon.policy.elf;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.policy.elf.ElfFile.Section;
import trigon.policy.elf.ElfFile.Symbol;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapException;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;

/** Reads an object: splits the code into functions, makes maps of the data, and puts indexes where the symbols were. */
public final class ObjectLoader {

    /** The most instructions of a function, in slots. */
    public static final int MAX_SLOTS = 4096;

    /** Length of a file's start that tells whether it is an object for eBPF. */
    public static final int IDENTITY_BYTES = ElfFile.IDENTITY_BYTES;

    private static final int MAX_FUNCTIONS = 256;
    private static final int MAX_PROGRAMS = 16;
    private static final int SLOT_BYTES = 8;
    private static final int R_BPF_64_64 = 1;
    private static final int R_BPF_64_32 = 10;

    private final ElfFile elf;
    private final String name;
    private final List<MapSpec> maps = new ArrayList<>();
    /** By section and offset, for declared maps; by section alone, for data. */
    private final Map<String, Integer> declaredMaps = new HashMap<>();

    private final Map<Integer, Integer> dataMaps = new HashMap<>();
    private final List<CodeRange> functions = new ArrayList<>();
    private final Map<Integer, long[]> code = new HashMap<>();
    /** By section: the slots whose number is now that of a map. */
    private final Map<Integer, BitSet> relocated = new HashMap<>();

    /** The target of a call: a slot of a section. */
    private record Call(int section, long slot) {}

    private record CodeRange(Symbol symbol, int section, int start, int count) {}

    private ObjectLoader(String name, byte[] bytes) throws ObjectException {
        this.name = name;
        elf = new ElfFile(name, bytes);
    }

    /**
     * Reads an object file, and resolves its relocations.
     *
     * @param name for messages
     * @throws ObjectException if there is anything wrong with it
     */
    public static PolicyObject load(String name, byte[] bytes) throws ObjectException {
        return new ObjectLoader(name, bytes).load();
    }

    /** Tells whether a file that begins so is an object for eBPF, be there anything wrong with it or not. */
    public static boolean isObject(byte[] start) {
        return ElfFile.isForBpf(start);
    }

    private PolicyObject load() throws ObjectException {
        findMaps();
        findFunctions();
        for (Section section : elf.sections()) {
            if (section.type() == ElfFile.REL && isCode(section.info())) {
                relocate(section, elf.sections().get(section.info()));
            } else if (section.type() == ElfFile.RELA && isCode(section.info())) {
                throw section.content().defect(0, "relocations with addends, which eBPF does not have");
            }
        }
        LineTable lines = LineTable.of(elf);
        List<PolicyObject.Function> loaded = new ArrayList<>();
        List<Integer> programs = new ArrayList<>();
        for (CodeRange range : functions) {
            String section = elf.sections().get(range.section).name();
            if (!section.equals(".text")) {
                programs.add(loaded.size());
            }
            loaded.add(new PolicyObject.Function(
                    range.symbol.name(), section, ownCode(range), lines.of(section, range.start, range.count)));
        }
        if (programs.isEmpty()) {
            throw elf.file()
                    .defect(0, "there is no program", "put one into a section, with SEC(\"tuner\") for example");
        }
        if (programs.size() > MAX_PROGRAMS) {
            throw elf.file().defect(0, "more than %d programs".formatted(MAX_PROGRAMS), "split the object");
        }
        return new PolicyObject(name, loaded, programs, maps);
    }

    private boolean isCode(int section) {
        return section > 0
                && section < elf.sections().size()
                && elf.sections().get(section).isCode();
    }

    private void findMaps() throws ObjectException {
        for (MapSpec spec : MapDefinitions.read(elf)) {
            declaredMaps.put(spec.name(), maps.size());
            maps.add(spec);
        }
        for (Section section : elf.sections()) {
            boolean readOnly = section.name().startsWith(".rodata");
            boolean data = readOnly
                    || section.name().startsWith(".data")
                    || section.name().startsWith(".bss");
            if (data && section.size() > 0) {
                if (section.size() > MapSpec.MAX_BYTES / 2) {
                    throw section.content().defect(0, "%d bytes of data".formatted(section.size()), "use less");
                }
                byte[] content = section.content().bytes(0, section.content().size());
                MapSpec spec = new MapSpec(
                        name + section.name(), MapType.ARRAY, 4, (int) section.size(), 1, readOnly, content);
                try {
                    spec.check();
                } catch (MapException e) {
                    throw section.content().defect(0, String.valueOf(e.getMessage()), "use less");
                }
                dataMaps.put(section.index(), maps.size());
                maps.add(spec);
            }
        }
    }

    private void findFunctions() throws ObjectException {
        for (Symbol symbol : elf.symbols()) {
            if (symbol.type() == Symbol.FUNCTION && isCode(symbol.section())) {
                Section section = elf.sections().get(symbol.section());
                long end = symbol.value() + symbol.size();
                boolean misplaced = symbol.value() < 0
                        || symbol.size() <= 0
                        || end > section.size()
                        || end < 0
                        || symbol.value() % SLOT_BYTES != 0
                        || symbol.size() % SLOT_BYTES != 0;
                if (misplaced) {
                    throw section.content()
                            .defect(symbol.value(), "function %s is not within the section".formatted(symbol.name()));
                }
                if (symbol.size() / SLOT_BYTES > MAX_SLOTS) {
                    throw section.content()
                            .defect(
                                    symbol.value(),
                                    "function %s has %d instructions, more than %d"
                                            .formatted(symbol.name(), symbol.size() / SLOT_BYTES, MAX_SLOTS),
                                    "split it");
                }
                functions.add(new CodeRange(symbol, symbol.section(), (int) (symbol.value() / SLOT_BYTES), (int)
                        (symbol.size() / SLOT_BYTES)));
            }
        }
        if (functions.size() > MAX_FUNCTIONS) {
            throw elf.file().defect(0, "more than %d functions".formatted(MAX_FUNCTIONS), "split the object");
        }
        for (CodeRange range : functions) {
            if (!code.containsKey(range.section)) {
                code.put(range.section, slots(elf.sections().get(range.section)));
            }
        }
    }

    private static long[] slots(Section section) throws ObjectException {
        long[] slots = new long[section.content().size() / SLOT_BYTES];
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = section.content().i64((long) slot * SLOT_BYTES);
        }
        return slots;
    }

    private void relocate(Section relocations, Section target) throws ObjectException {
        long[] slots = code.get(target.index());
        if (slots == null) {
            return;
        }
        Reader entries = relocations.content();
        for (long at = 0; at + 16 <= entries.size(); at += 16) {
            long info = entries.i64(at + 8);
            int symbol = (int) (info >>> 32);
            if (symbol < 0 || symbol >= elf.symbols().size()) {
                throw entries.defect(at, "symbol %d does not exist".formatted(symbol));
            }
            relocate(target, slots, entries.i64(at), (int) info, elf.symbols().get(symbol));
        }
    }

    private void relocate(Section target, long[] slots, long offset, int type, Symbol symbol) throws ObjectException {
        if (offset < 0 || offset % 8 != 0 || offset / 8 >= slots.length) {
            throw target.content().defect(offset, "a relocation of no instruction");
        }
        int slot = (int) (offset / 8);
        int opcode = Encoding.opcode(slots[slot]);
        if (type == R_BPF_64_64 && opcode == Encoding.LOAD_CONSTANT && slot + 1 < slots.length) {
            relocateData(target, slots, slot, symbol);
            relocated(target.index()).set(slot);
        } else if (type == R_BPF_64_32 && opcode == Encoding.CALL) {
            relocateCall(target, slots, slot, symbol);
        } else {
            throw target.content().defect(offset, "a relocation of type %d for opcode 0x%02x".formatted(type, opcode));
        }
    }

    private void relocateData(Section target, long[] slots, int slot, Symbol symbol) throws ObjectException {
        long offset = (long) slot * SLOT_BYTES;
        Integer declared = declaredMaps.get(symbol.name());
        if (declared != null && nameOf(symbol).equals(".maps")) {
            slots[slot] = Encoding.relocated(slots[slot], Encoding.SOURCE_MAP, declared);
            slots[slot + 1] = 0;
            return;
        }
        Integer data = dataMaps.get(symbol.section());
        if (data == null) {
            throw target.content()
                    .defect(
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
            throw target.content().defect(offset, "an address beyond the end of section " + nameOf(symbol));
        }
        slots[slot] = Encoding.relocated(slots[slot], Encoding.SOURCE_MAP_VALUE, data);
        slots[slot + 1] = Encoding.slot(0, 0, 0, 0, (int) at);
    }

    /** A call into another section keeps that section in its offset field until the functions are cut out. */
    private static void relocateCall(Section target, long[] slots, int slot, Symbol symbol) throws ObjectException {
        long offset = (long) slot * SLOT_BYTES;
        if (symbol.section() == 0 || symbol.section() > Short.MAX_VALUE) {
            throw target.content()
                    .defect(
                            offset,
                            "the function %s is not defined in this object".formatted(symbol.name()),
                            "define it in the same source");
        }
        long called = symbol.value() / SLOT_BYTES + Encoding.immediate(slots[slot]) + 1L;
        slots[slot] = Encoding.slot(Encoding.CALL, 0, Encoding.SOURCE_FUNCTION, symbol.section(), (int) called);
    }

    private String nameOf(Symbol symbol) {
        return elf.sections().get(symbol.section()).name();
    }

    /** The target of a slot's call, or null if it is no call of a function. */
    private static @Nullable Call call(long encoded, int section, int slot) {
        if (Encoding.opcode(encoded) != Encoding.CALL || Encoding.source(encoded) != Encoding.SOURCE_FUNCTION) {
            return null;
        }
        int relocated = Encoding.offset(encoded);
        return relocated != 0
                ? new Call(relocated, Encoding.immediate(encoded))
                : new Call(section, slot + 1L + Encoding.immediate(encoded));
    }

    /** The code of a function, its calls turned into indexes of functions. */
    private long[] ownCode(CodeRange range) throws ObjectException {
        long[] all = code.getOrDefault(range.section, new long[0]);
        long[] own = new long[range.count];
        for (int i = 0; i < range.count; i++) {
            own[i] = all[range.start + i];
            Call call = call(own[i], range.section, range.start + i);
            if (call != null) {
                own[i] = Encoding.slot(
                        Encoding.CALL,
                        Encoding.destination(own[i]),
                        Encoding.SOURCE_FUNCTION,
                        0,
                        function(call, range, i));
            }
            if (Encoding.opcode(own[i]) == Encoding.LOAD_CONSTANT && i + 1 < range.count) {
                checkRelocated(range, i, own[i]);
                i++;
                own[i] = all[range.start + i];
            }
        }
        return own;
    }

    private BitSet relocated(int section) {
        return relocated.computeIfAbsent(section, s -> new BitSet());
    }

    /** An object cannot know the numbers of maps: only a relocation makes them. */
    private void checkRelocated(CodeRange range, int slot, long encoded) throws ObjectException {
        int at = range.start + slot;
        if (Encoding.source(encoded) != 0 && !relocated(range.section).get(at)) {
            throw elf.sections()
                    .get(range.section)
                    .content()
                    .defect(
                            (long) at * SLOT_BYTES,
                            "a load of a map in %s without a relocation".formatted(range.symbol.name()),
                            "name the map in the source");
        }
    }

    private int function(Call call, CodeRange caller, int slot) throws ObjectException {
        for (int index = 0; index < functions.size(); index++) {
            CodeRange function = functions.get(index);
            if (function.section == call.section() && function.start == call.slot()) {
                return index;
            }
        }
        Reader content = elf.sections().get(caller.section).content();
        throw content.defect(
                (long) (caller.start + slot) * SLOT_BYTES,
                "%s calls what is no function of this object".formatted(caller.symbol.name()),
                "define the function in the same source, or inline it");
    }
}
