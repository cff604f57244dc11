package trigon.policy.elf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The sections and symbols of an ELF file for eBPF: 64 bits, little endian, relocatable. See {@code elf(5)}. */
final class ElfFile {

    static final int PROGBITS = 1;
    static final int NOBITS = 8;
    static final int RELA = 4;
    static final int REL = 9;

    /** Up to what kind of file it is, and for which machine. */
    static final int IDENTITY_BYTES = 20;

    private static final int SYMTAB = 2;
    private static final int MAX_BYTES = 4 << 20;
    private static final int MAX_SECTIONS = 1024;
    private static final int MAX_SYMBOLS = 16_384;
    private static final int HEADER_BYTES = 64;
    private static final int SECTION_BYTES = 64;
    private static final int SYMBOL_BYTES = 24;
    private static final int MAGIC = 0x464c457f;
    private static final int ET_REL = 1;
    private static final int EM_BPF = 247;
    private static final long EXECUTABLE = 4;

    /** A section; of those without bytes in the file, the reader is empty. */
    record Section(int index, String name, int type, long flags, long size, int info, Reader content) {
        boolean isCode() {
            return type == PROGBITS && (flags & EXECUTABLE) != 0;
        }
    }

    /** A symbol; the section is an index, or 0 for none in this file. */
    record Symbol(String name, int type, int section, long value, long size) {
        static final int FUNCTION = 2;
        static final int SECTION = 3;
    }

    private final Reader file;
    private final List<Section> sections = new ArrayList<>();
    private final List<Symbol> symbols = new ArrayList<>();

    ElfFile(String name, byte[] bytes) throws ObjectException {
        file = new Reader(name, "(file)", ByteBuffer.wrap(bytes));
        if (bytes.length > MAX_BYTES) {
            throw file.defect(0, "%d bytes, more than %d".formatted(bytes.length, MAX_BYTES), "strip it of DWARF");
        }
        readHeader();
        readSections();
        for (Section section : sections) {
            if (section.type == SYMTAB) {
                readSymbols(section);
            }
        }
    }

    /** By its magic, its kind, and its machine. */
    static boolean isForBpf(byte[] start) {
        ByteBuffer header = ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN);
        return start.length >= IDENTITY_BYTES
                && header.getInt(0) == MAGIC
                && header.getShort(16) == ET_REL
                && header.getShort(18) == EM_BPF;
    }

    private void readHeader() throws ObjectException {
        if (file.size() < HEADER_BYTES || file.i32(0) != MAGIC) {
            throw file.defect(0, "this is no ELF file", "give the object that clang wrote, not its source");
        }
        if (file.u8(4) != 2 || file.u8(5) != 1) {
            throw file.defect(4, "not of 64 bits and little endian", "build it with -target bpfel");
        }
        if (file.u16(16) != ET_REL || file.u16(18) != EM_BPF) {
            throw file.defect(
                    16,
                    "type %d for machine %d, instead of a relocatable object for eBPF"
                            .formatted(file.u16(16), file.u16(18)));
        }
        if (file.u16(58) != SECTION_BYTES) {
            throw file.defect(58, "section headers of %d bytes".formatted(file.u16(58)));
        }
    }

    private void readSections() throws ObjectException {
        long start = file.i64(40);
        int count = file.u16(60);
        int names = file.u16(62);
        if (count == 0 || count > MAX_SECTIONS || names >= count) {
            throw file.defect(60, "%d sections, names in number %d".formatted(count, names));
        }
        if (start < 0 || start > file.size()) {
            throw file.defect(40, "section headers at " + Long.toUnsignedString(start));
        }
        Reader strings = content(".shstrtab", start + (long) names * SECTION_BYTES);
        for (int index = 0; index < count; index++) {
            long at = start + (long) index * SECTION_BYTES;
            String name = index == 0 ? "" : strings.string(file.u32(at));
            long size = file.i64(at + 32);
            if (size < 0) {
                throw file.defect(at + 32, "section %s of %s bytes".formatted(name, Long.toUnsignedString(size)));
            }
            sections.add(new Section(
                    index, name, file.i32(at + 4), file.i64(at + 8), size, file.i32(at + 44), content(name, at)));
        }
    }

    private Reader content(String name, long header) throws ObjectException {
        int type = file.i32(header + 4);
        boolean empty = type == NOBITS || type == 0;
        return empty ? file.part(name, 0, 0) : file.part(name, file.i64(header + 24), file.i64(header + 32));
    }

    private void readSymbols(Section table) throws ObjectException {
        int count = table.content.size() / SYMBOL_BYTES;
        int link = file.i32(file.i64(40) + (long) table.index * SECTION_BYTES + 40);
        if (count > MAX_SYMBOLS || link <= 0 || link >= sections.size() || !symbols.isEmpty()) {
            throw table.content.defect(0, "%d symbols, names in section %d".formatted(count, link));
        }
        Reader names = sections.get(link).content;
        for (int i = 0; i < count; i++) {
            long at = (long) i * SYMBOL_BYTES;
            Reader content = table.content;
            int section = content.u16(at + 6);
            symbols.add(new Symbol(
                    names.string(content.u32(at)),
                    content.u8(at + 4) & 0xf,
                    section < sections.size() ? section : 0,
                    content.i64(at + 8),
                    content.i64(at + 16)));
        }
    }

    Reader file() {
        return file;
    }

    List<Section> sections() {
        return sections;
    }

    List<Symbol> symbols() {
        return symbols;
    }

    Optional<Section> section(String name) {
        return sections.stream().filter(section -> section.name.equals(name)).findFirst();
    }
}
