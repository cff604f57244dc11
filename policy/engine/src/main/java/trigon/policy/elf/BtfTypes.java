package trigon.policy.elf;

import java.util.ArrayList;
import java.util.List;

/** The section {@code .BTF}: types, as far as declarations of maps need them. */
final class BtfTypes {

    static final int POINTER = 2;
    static final int ARRAY = 3;
    static final int STRUCT = 4;
    static final int VARIABLE = 14;
    static final int DATA_SECTION = 15;

    private static final int MAX_TYPES = 65_536;
    private static final int DEEPEST = 32;
    private static final int MAGIC = 0xeb9f;

    /** A type; {@code sizeOrType} and what follows it mean something else in each kind. */
    record BtfType(int id, long nameAt, int kind, int length, int sizeOrType, long details) {}

    /** A member of a structure, or a variable of a data section (which has no name of its own). */
    record Member(String name, int type, long offset) {}

    private final Reader types;
    private final Reader strings;
    private final List<BtfType> all = new ArrayList<>();

    BtfTypes(Reader section) throws ObjectException {
        if (section.size() < 24 || section.u16(0) != MAGIC) {
            throw section.defect(0, "no type information");
        }
        long header = section.u32(4);
        types = section.part(".BTF", header + section.u32(8), section.u32(12));
        strings = section.part(".BTF", header + section.u32(16), section.u32(20));
        all.add(new BtfType(0, 0, 0, 0, 0, 0));
        long at = 0;
        while (at < types.size()) {
            if (all.size() > MAX_TYPES) {
                throw types.defect(at, "more than %d types".formatted(MAX_TYPES));
            }
            long info = types.u32(at + 4);
            BtfType type = new BtfType(
                    all.size(),
                    types.u32(at),
                    (int) (info >> 24) & 0x1f,
                    (int) info & 0xffff,
                    types.i32(at + 8),
                    at + 12);
            all.add(type);
            at += 12 + bytesAfter(type, at);
        }
    }

    private long bytesAfter(BtfType type, long at) throws ObjectException {
        return switch (type.kind) {
            case 1, 14, 17 -> 4;
            case 2, 7, 8, 9, 10, 11, 12, 16, 18 -> 0;
            case 3 -> 12;
            case 4, 5, 15, 19 -> 12L * type.length;
            case 6, 13 -> 8L * type.length;
            default -> throw types.defect(at, "a type of the unknown kind " + type.kind);
        };
    }

    /** Read when asked for: a file may have many types with long names. */
    String name(BtfType type) throws ObjectException {
        return strings.string(type.nameAt);
    }

    String string(long offset) throws ObjectException {
        return strings.string(offset);
    }

    List<BtfType> all() {
        return all;
    }

    /** The type with a number, names and qualifiers taken off. */
    BtfType resolve(int id) throws ObjectException {
        int at = id;
        for (int depth = 0; depth < DEEPEST; depth++) {
            if (at < 0 || at >= all.size()) {
                throw types.defect(0, "type %d does not exist".formatted(at));
            }
            BtfType type = all.get(at);
            // typedef, volatile, const, restrict, type tag
            boolean wraps = (type.kind >= 8 && type.kind <= 11) || type.kind == 18;
            if (!wraps) {
                return type;
            }
            at = type.sizeOrType;
        }
        throw types.defect(0, "type %d leads nowhere".formatted(id));
    }

    /**
     * Size of a value of the type, in bytes.
     *
     * @throws ObjectException if it has no size, or contains itself
     */
    long size(int id) throws ObjectException {
        return size(id, 0);
    }

    private long size(int id, int depth) throws ObjectException {
        BtfType type = resolve(id);
        if (depth > DEEPEST) {
            throw types.defect(0, "type %d contains itself".formatted(id));
        }
        return switch (type.kind) {
            case 1, 4, 5, 6, 16, 19 -> type.sizeOrType & 0xffff_ffffL;
            case POINTER -> 8;
            case ARRAY -> {
                long size = size(elementType(type), depth + 1);
                long count = elements(type);
                if (size != 0 && count > Integer.MAX_VALUE / size) {
                    throw types.defect(type.details, "an array of %d elements".formatted(count));
                }
                yield size * count;
            }
            default -> throw types.defect(0, "type %d has no size".formatted(id));
        };
    }

    int elementType(BtfType array) throws ObjectException {
        return types.i32(array.details);
    }

    long elements(BtfType array) throws ObjectException {
        return types.u32(array.details + 8);
    }

    /** Refuses a structure or a data section that is longer than a map or an object needs. */
    private void checkLength(BtfType type, int most) throws ObjectException {
        if (type.length > most) {
            throw defect(type, "%s has %d parts, more than %d".formatted(name(type), type.length, most));
        }
    }

    /** The members of a structure that declares a map. */
    List<Member> members(BtfType struct, int most) throws ObjectException {
        checkLength(struct, most);
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < struct.length; i++) {
            long at = struct.details + 12L * i;
            members.add(new Member(strings.string(types.u32(at)), types.i32(at + 4), types.u32(at + 8)));
        }
        return members;
    }

    /** The variables of a data section, with their names and types. */
    List<Member> variables(BtfType section, int most) throws ObjectException {
        checkLength(section, most);
        List<Member> variables = new ArrayList<>();
        for (int i = 0; i < section.length; i++) {
            long at = section.details + 12L * i;
            BtfType variable = resolve(types.i32(at));
            if (variable.kind != VARIABLE) {
                throw types.defect(at, "type %d is no variable".formatted(variable.id));
            }
            variables.add(new Member(name(variable), variable.sizeOrType, types.u32(at + 4)));
        }
        return variables;
    }

    ObjectException defect(BtfType type, String what) {
        return types.defect(Math.max(0, type.details - 12), what);
    }
}
