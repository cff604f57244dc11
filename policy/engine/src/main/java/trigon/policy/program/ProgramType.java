package trigon.policy.program;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A kind of program.
 *
 * @param section the section its programs are in
 * @param fields of the context, without overlaps
 * @param contextBytes size of the context
 * @param helpers which it may call
 * @param minResult the smallest number it may return, signed
 * @param maxResult the largest number it may return, signed
 * @param ranksMustAgree whether the outputs have to be the same on all ranks: if they are not, NCCL hangs
 * @param maxInstructions how many instructions one run may take at most
 */
public record ProgramType(
        String section,
        List<Field> fields,
        int contextBytes,
        Set<Helper> helpers,
        long minResult,
        long maxResult,
        boolean ranksMustAgree,
        int maxInstructions) {

    /** Returned by a program: its outputs count. */
    public static final int APPLY = 0;
    /** Returned by a program: the host decides as if there was none. */
    public static final int PASS = 1;

    public ProgramType {
        fields = List.copyOf(fields);
        helpers = Set.copyOf(helpers);
    }

    /** The field at an offset, if one starts there. */
    public Optional<Field> fieldAt(long offset) {
        return fields.stream().filter(field -> field.offset() == offset).findFirst();
    }

    public Optional<Helper> helper(int number) {
        return helpers.stream().filter(helper -> helper.number() == number).findFirst();
    }

    /** @throws IllegalArgumentException if there is no such field */
    public Field field(String name) {
        return fields.stream()
                .filter(field -> field.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(section + " has no field " + name));
    }
}
