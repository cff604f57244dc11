package trigon.policy.elf;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import trigon.policy.elf.PolicyObject.SourceLine;

/** The section {@code .BTF.ext}: source lines by section and slot. Defects of it are no reason to refuse an object. */
final class LineTable {

    private static final int MAGIC = 0xeb9f;
    private static final int RECORD_BYTES = 16;
    private static final int SLOT_BYTES = 8;

    /** A line's number has the expression's column below it. */
    private static final int COLUMN_BITS = 10;

    /** Lines of an object in all; one with more is shown without them. */
    private static final int MAX_RECORDS = 65_536;

    private static final int MAX_CHARACTERS = 1 << 20;

    private final Map<String, NavigableMap<Integer, SourceLine>> lines = new HashMap<>();
    private final Map<Long, String> texts = new HashMap<>();
    private int records;
    private int characters;

    static LineTable of(ElfFile elf) {
        LineTable table = new LineTable();
        Optional<ElfFile.Section> btf = elf.section(".BTF");
        Optional<ElfFile.Section> extension = elf.section(".BTF.ext");
        if (btf.isPresent() && extension.isPresent()) {
            try {
                table.read(extension.get().content(), new BtfTypes(btf.get().content()));
            } catch (ObjectException e) {
                table.lines.clear();
            }
        }
        return table;
    }

    private void read(Reader section, BtfTypes strings) throws ObjectException {
        if (section.u16(0) != MAGIC) {
            throw section.defect(0, "no line information");
        }
        Reader info = section.part(".BTF.ext", section.u32(4) + section.u32(16), section.u32(20));
        if (info.size() == 0) {
            return;
        }
        long recordBytes = info.u32(0);
        if (recordBytes < RECORD_BYTES) {
            throw info.defect(0, "records of %d bytes".formatted(recordBytes));
        }
        long at = 4;
        while (at < info.size()) {
            NavigableMap<Integer, SourceLine> ofSection =
                    lines.computeIfAbsent(text(info, strings, info.u32(at)), name -> new TreeMap<>());
            long count = info.u32(at + 4);
            at += 8;
            for (long i = 0; i < count; i++, at += recordBytes) {
                records++;
                if (records > MAX_RECORDS) {
                    throw info.defect(at, "more than %d lines".formatted(MAX_RECORDS));
                }
                ofSection.put(
                        (int) (info.u32(at) / SLOT_BYTES),
                        new SourceLine(
                                text(info, strings, info.u32(at + 4)),
                                (int) (info.u32(at + 12) >> COLUMN_BITS),
                                (int) info.u32(at + 12) & ((1 << COLUMN_BITS) - 1),
                                text(info, strings, info.u32(at + 8))));
            }
        }
    }

    /** Each text once: all lines of a function have the same file. */
    private String text(Reader info, BtfTypes strings, long offset) throws ObjectException {
        String known = texts.get(offset);
        if (known != null) {
            return known;
        }
        String text = strings.string(offset);
        characters += text.length() + 1;
        if (characters > MAX_CHARACTERS) {
            throw info.defect(0, "lines of more than %d characters".formatted(MAX_CHARACTERS));
        }
        texts.put(offset, text);
        return text;
    }

    /** The lines of a function, by its own slots. */
    NavigableMap<Integer, SourceLine> of(String section, int start, int count) {
        NavigableMap<Integer, SourceLine> own = new TreeMap<>();
        lines.getOrDefault(section, new TreeMap<>())
                .subMap(start, start + count)
                .forEach((slot, line) -> own.put(slot - start, line));
        return own;
    }
}
