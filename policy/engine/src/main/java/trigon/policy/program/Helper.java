package trigon.policy.program;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import trigon.policy.map.MapSpec.MapType;

/** Functions of the host that programs call, with Linux's numbers. */
public enum Helper {
    MAP_LOOKUP(1, "bpf_map_lookup_elem", Result.VALUE_OR_NULL, true, List.of(Argument.MAP, Argument.KEY)),
    MAP_UPDATE(
            2,
            "bpf_map_update_elem",
            Result.NUMBER,
            true,
            List.of(Argument.MAP, Argument.KEY, Argument.VALUE, Argument.NUMBER)),
    MAP_DELETE(3, "bpf_map_delete_elem", Result.NUMBER, true, List.of(Argument.MAP, Argument.KEY)),
    KTIME_GET_NS(5, "bpf_ktime_get_ns", Result.NUMBER, false, List.of()),
    GET_PRANDOM_U32(7, "bpf_get_prandom_u32", Result.NUMBER_32, false, List.of()),
    RINGBUF_OUTPUT(
            130,
            "bpf_ringbuf_output",
            Result.NUMBER,
            false,
            List.of(Argument.MAP, Argument.MEMORY, Argument.LENGTH, Argument.NUMBER));

    /** The verifier's demand on an argument. */
    public enum Argument {
        MAP,
        /** Readable memory of the size of the map's keys. */
        KEY,
        /** Readable memory of the size of the map's values. */
        VALUE,
        /** Readable memory of the size that the next argument gives. */
        MEMORY,
        /** A size, at least 1. */
        LENGTH,
        NUMBER
    }

    /** The kind of a result. */
    public enum Result {
        NUMBER,
        /** With the high half clear. */
        NUMBER_32,
        /** The address of a value in the map, or 0. */
        VALUE_OR_NULL
    }

    private final int number;
    private final String cName;
    private final Result result;
    private final boolean uniform;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<Argument> arguments;

    Helper(int number, String cName, Result result, boolean uniform, List<Argument> arguments) {
        this.number = number;
        this.cName = cName;
        this.result = result;
        this.uniform = uniform;
        this.arguments = arguments;
    }

    public static Optional<Helper> ofNumber(int number) {
        return Arrays.stream(values()).filter(helper -> helper.number == number).findFirst();
    }

    public int number() {
        return number;
    }

    /** As in {@code bpf_helpers.h}: for example {@code bpf_map_lookup_elem}. */
    public String cName() {
        return cName;
    }

    public Result result() {
        return result;
    }

    /** Tells whether all ranks get the same result for the same arguments and the same content of the map. */
    public boolean uniform() {
        return uniform;
    }

    /** In r1 and up. */
    public List<Argument> arguments() {
        return arguments;
    }

    /** Tells whether it makes sense of maps of a type. */
    public boolean takes(MapType type) {
        return (this == RINGBUF_OUTPUT) == (type == MapType.RING_BUFFER)
                && (this != MAP_DELETE || type == MapType.HASH || type == MapType.LRU_HASH);
    }
}
