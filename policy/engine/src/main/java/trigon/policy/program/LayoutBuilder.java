package trigon.policy.program;

import java.util.ArrayList;
import java.util.List;
import trigon.policy.program.Field.Direction;

/** Puts fields one behind the other, each at a multiple of its size, as C does. */
final class LayoutBuilder {

    private final List<Field> fields = new ArrayList<>();
    private int end;

    /** An input of 8 bytes that is the same on all ranks. */
    LayoutBuilder uniform64(String name) {
        return add(name, 8, Direction.INPUT, true, 0, 0);
    }

    /** An input of 4 bytes that is the same on all ranks. */
    LayoutBuilder uniform32(String name) {
        return add(name, 4, Direction.INPUT, true, 0, 0);
    }

    /** An input of 8 bytes that each rank has its own of. */
    LayoutBuilder local64(String name) {
        return add(name, 8, Direction.INPUT, false, 0, 0);
    }

    /** An input of 4 bytes that each rank has its own of. */
    LayoutBuilder local32(String name) {
        return add(name, 4, Direction.INPUT, false, 0, 0);
    }

    /** Outputs of 4 bytes, with bounds. */
    LayoutBuilder output32(String name, long min, long max) {
        return add(name, 4, Direction.OUTPUT, true, min, max);
    }

    /** Outputs of 8 bytes, with bounds. */
    LayoutBuilder output64(String name, long min, long max) {
        return add(name, 8, Direction.OUTPUT, true, min, max);
    }

    private LayoutBuilder add(String name, int bytes, Direction direction, boolean uniform, long min, long max) {
        int offset = (end + bytes - 1) / bytes * bytes;
        fields.add(new Field(name, offset, bytes, direction, uniform, min, max));
        end = offset + bytes;
        return this;
    }

    List<Field> fields() {
        return List.copyOf(fields);
    }

    int bytes() {
        return (end + 7) / 8 * 8;
    }
}
