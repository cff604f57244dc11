package trigon.policy.elf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.policy.elf.BtfTypes.BtfType;
import trigon.policy.elf.BtfTypes.Member;
import trigon.policy.map.MapException;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;

/**
 * Maps that are declared in the section {@code .maps}, as libbpf's macros {@code __uint} and {@code __type} write them.
 */
final class MapDefinitions {

    private static final int MAX_MAPS = 64;

    /** Members of the structure that declares a map, which has seven names. */
    private static final int MAX_MEMBERS = 16;

    private MapDefinitions() {}

    static List<MapSpec> read(ElfFile elf) throws ObjectException {
        Optional<ElfFile.Section> maps = elf.section(".maps");
        if (maps.isEmpty()) {
            return List.of();
        }
        Optional<ElfFile.Section> btf = elf.section(".BTF");
        if (btf.isEmpty()) {
            throw maps.get().content().defect(0, "maps without type information", "build it with -g");
        }
        BtfTypes types = new BtfTypes(btf.get().content());
        List<MapSpec> specs = new ArrayList<>();
        for (BtfType type : types.all()) {
            if (type.kind() == BtfTypes.DATA_SECTION && types.name(type).equals(".maps")) {
                for (Member variable : types.variables(type, MAX_MAPS)) {
                    specs.add(spec(types, variable));
                }
            }
        }
        if (specs.size() > MAX_MAPS) {
            throw maps.get().content().defect(0, "more than %d maps".formatted(MAX_MAPS), "use fewer");
        }
        return specs;
    }

    private static MapSpec spec(BtfTypes types, Member variable) throws ObjectException {
        BtfType struct = types.resolve(variable.type());
        if (struct.kind() != BtfTypes.STRUCT) {
            throw types.defect(struct, "map %s is no structure".formatted(variable.name()));
        }
        Map<String, Long> numbers = new HashMap<>();
        for (Member member : types.members(struct, MAX_MEMBERS)) {
            BtfType pointer = types.resolve(member.type());
            if (pointer.kind() != BtfTypes.POINTER) {
                throw types.defect(struct, "map %s: %s is no pointer".formatted(variable.name(), member.name()));
            }
            switch (member.name()) {
                case "type", "max_entries", "key_size", "value_size", "map_flags" ->
                    numbers.put(member.name(), number(types, struct, pointer));
                case "key" -> numbers.put("key_size", types.size(pointer.sizeOrType()));
                case "value" -> numbers.put("value_size", types.size(pointer.sizeOrType()));
                default ->
                    throw types.defect(struct, "map %s: %s is not supported".formatted(variable.name(), member.name()));
            }
        }
        return spec(types, struct, variable.name(), numbers);
    }

    /** {@code __uint(name, value)} is a pointer to an array of so many numbers. */
    private static long number(BtfTypes types, BtfType struct, BtfType pointer) throws ObjectException {
        BtfType array = types.resolve(pointer.sizeOrType());
        if (array.kind() != BtfTypes.ARRAY) {
            throw types.defect(struct, "a number of a map is not declared with __uint");
        }
        return types.elements(array);
    }

    private static MapSpec spec(BtfTypes types, BtfType struct, String name, Map<String, Long> numbers)
            throws ObjectException {
        long type = numbers.getOrDefault("type", 0L);
        Optional<MapType> known = MapType.ofNumber(type);
        if (known.isEmpty()) {
            throw types.defect(struct, "map %s: type %d is not supported".formatted(name, type));
        }
        if (numbers.getOrDefault("map_flags", 0L) != 0) {
            throw types.defect(struct, "map %s: map_flags are not supported".formatted(name));
        }
        MapSpec spec = MapSpec.of(
                name,
                known.get(),
                clamped(numbers, "key_size"),
                clamped(numbers, "value_size"),
                clamped(numbers, "max_entries"));
        try {
            spec.check();
        } catch (MapException e) {
            throw types.defect(struct, String.valueOf(e.getMessage()));
        }
        return spec;
    }

    private static int clamped(Map<String, Long> numbers, String name) {
        return (int) Math.min(Integer.MAX_VALUE, numbers.getOrDefault(name, 0L));
    }
}
