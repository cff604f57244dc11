package trigon.policy.verify;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import trigon.policy.range.Range;

/** The 512 bytes of a function's stack, byte by byte. Offsets count from the end and are negative. */
final class StackMemory {

    static final int BYTES = 512;

    /** The piece that a byte is part of: a value that was stored at once, or (if null) numbers of no interest. */
    private static final class Cell {
        static final Cell NUMBER = new Cell(null, 0, 1);

        final @Nullable Value value;
        final int start;
        final int bytes;

        Cell(@Nullable Value value, int start, int bytes) {
            this.value = value;
            this.start = start;
            this.bytes = bytes;
        }

        boolean isPointer() {
            return value instanceof Value.Pointer;
        }

        /** Tells whether an id ties it to something else. */
        boolean isTied() {
            return switch (value) {
                case null -> false;
                case Value.Unset _ -> false;
                case Value.Scalar scalar -> scalar.id() != 0;
                case Value.Pointer pointer -> pointer.id() != 0;
            };
        }
    }

    /** Null where nothing was written. */
    private @Nullable Cell[] cells;

    /** True while copies have the same cells: most states differ in registers only. */
    private boolean shared;

    StackMemory() {
        cells = new Cell[BYTES];
    }

    private StackMemory(@Nullable Cell[] cells) {
        this.cells = cells;
    }

    StackMemory copy() {
        shared = true;
        StackMemory copy = new StackMemory(cells);
        copy.shared = true;
        return copy;
    }

    private void set(int index, @Nullable Cell cell) {
        if (shared) {
            cells = cells.clone();
            shared = false;
        }
        cells[index] = cell;
    }

    /** Writes a value in one piece. */
    void store(int offset, int bytes, Value value) {
        int start = offset + BYTES;
        spoil(start, bytes);
        Cell cell = new Cell(value, start, bytes);
        for (int i = start; i < start + bytes; i++) {
            set(i, cell);
        }
    }

    /** Forgets values that are about to be overwritten in part. */
    private void spoil(int start, int bytes) {
        for (int i = start; i < start + bytes; i++) {
            Cell cell = cells[i];
            if (cell != null && cell.value != null) {
                for (int j = cell.start; j < cell.start + cell.bytes; j++) {
                    set(j, cell.isPointer() ? null : Cell.NUMBER);
                }
            }
        }
    }

    /** Some bytes of these may be written, with numbers. */
    void storeSomewhere(int from, int to) {
        for (int i = from + BYTES; i < to + BYTES; i++) {
            if (cells[i] != null) {
                spoil(i, 1);
            }
        }
    }

    /** The value of a read in one piece; null if some of it was not written, or is a part of an address. */
    @Nullable
    Value load(int offset, int bytes) {
        int start = offset + BYTES;
        Cell first = cells[start];
        if (first != null && first.value != null && first.start == start && first.bytes == bytes) {
            return first.value;
        }
        return isNumber(offset, offset + bytes) ? Value.Scalar.of(Range.ofBits(8 * bytes)) : null;
    }

    /** Tells whether all bytes were written, and are no part of an address. */
    boolean isNumber(int from, int to) {
        for (int i = from + BYTES; i < to + BYTES; i++) {
            Cell cell = cells[i];
            if (cell == null || cell.isPointer()) {
                return false;
            }
        }
        return true;
    }

    /** Replaces all values that are known. */
    void replace(UnaryOperator<Value> by) {
        for (int i = 0; i < BYTES; i++) {
            Cell cell = cells[i];
            if (cell != null && cell.value != null && cell.start == i) {
                Value replaced = by.apply(cell.value);
                if (!replaced.equals(cell.value)) {
                    Cell next = new Cell(replaced, cell.start, cell.bytes);
                    for (int j = i; j < i + cell.bytes; j++) {
                        set(j, next);
                    }
                }
            }
        }
    }

    /** Adds the numbers that are known exactly, by the place of their first byte. */
    void addNumbers(int firstPlace, Map<Integer, Long> numbers) {
        for (int i = 0; i < BYTES; i++) {
            Cell cell = cells[i];
            if (cell != null
                    && cell.start == i
                    && cell.value instanceof Value.Scalar(Range range, int _)
                    && range.isConstant()) {
                numbers.put(firstPlace + i, range.value());
            }
        }
    }

    /** Tells whether whatever holds of this holds of the other. */
    boolean subsumes(StackMemory other, Subsumption values) {
        for (int i = 0; i < BYTES; i++) {
            Cell ours = cells[i];
            Cell theirs = other.cells[i];
            if (ours == null || (ours == theirs && !ours.isTied())) {
                continue;
            }
            if (theirs == null) {
                return false;
            }
            if (ours.value == null) {
                if (theirs.isPointer()) {
                    return false;
                }
            } else if (ours.start == i && !sameValue(ours, theirs, values)) {
                return false;
            }
        }
        return true;
    }

    private static boolean sameValue(Cell ours, Cell theirs, Subsumption values) {
        Value value = theirs.value;
        boolean aligned = value != null && theirs.start == ours.start && theirs.bytes == ours.bytes;
        return aligned && ours.value != null && value != null && values.covers(ours.value, value);
    }
}
