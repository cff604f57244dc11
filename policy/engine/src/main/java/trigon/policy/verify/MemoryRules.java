package trigon.policy.verify;

import static trigon.policy.verify.Violation.require;

import java.util.Optional;
import trigon.policy.isa.Instruction.Atomic;
import trigon.policy.isa.Instruction.AtomicOperation;
import trigon.policy.isa.Instruction.Load;
import trigon.policy.isa.Instruction.Store;
import trigon.policy.map.MapSpec;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verify.Value.Pointer;
import trigon.policy.verify.Value.Scalar;

/** Rules of memory: who may read and write what. */
record MemoryRules(ProgramFacts facts) {

    void load(State state, Load load) throws Violation {
        Pointer at = pointer(state, load.base(), load.offset());
        checkAligned(at, load.bytes());
        Value value = switch (at.region()) {
            case CONTEXT -> {
                field(at, load.bytes());
                facts.touch(state, at, at.offset().min(), at.offset().min() + load.bytes());
                yield Scalar.of(Range.ofBits(8 * load.bytes()));
            }
            case STACK -> loadStack(state, at, load.bytes());
            case MAP_VALUE -> {
                checkMapValue(state, at, load.bytes());
                yield Scalar.of(facts.loaded(at, load.bytes()));
            }
            case MAP -> throw new Violation(Rule.NOT_A_POINTER, "%s itself is read; look a key up in it".formatted(at));
        };
        if (load.signed()) {
            require(value instanceof Scalar, Rule.POINTER_LEAK, "a part of an address is read");
            value = Scalar.of(((Scalar) value).range().signExtended(8 * load.bytes()));
        }
        Registers.write(state, load.destination(), value);
    }

    void store(State state, Store store) throws Violation {
        Value value = Registers.value(state, store.value());
        Pointer at = pointer(state, store.base(), store.offset());
        checkAligned(at, store.bytes());
        if (at.region() != Region.STACK) {
            require(
                    value instanceof Scalar,
                    Rule.POINTER_LEAK,
                    "%s is written to the %s; addresses stay in registers and on the stack"
                            .formatted(value, at.region()));
        }
        switch (at.region()) {
            case CONTEXT -> storeContext(state, at, store.bytes(), value);
            case STACK -> storeStack(state, at, store.bytes(), value);
            case MAP_VALUE -> {
                checkWritable(at);
                checkMapValue(state, at, store.bytes());
            }
            case MAP ->
                throw new Violation(Rule.NOT_A_POINTER, "%s itself is written; update a key of it".formatted(at));
        }
    }

    void atomic(State state, Atomic atomic) throws Violation {
        Registers.number(state, atomic.source());
        boolean compares = atomic.operation() == AtomicOperation.COMPARE_AND_EXCHANGE;
        if (compares) {
            Registers.number(state, 0);
        }
        Pointer at = pointer(state, atomic.base(), atomic.offset());
        checkAligned(at, atomic.bytes());
        switch (at.region()) {
            case MAP_VALUE -> {
                checkWritable(at);
                checkMapValue(state, at, atomic.bytes());
            }
            case STACK -> {
                require(
                        loadStack(state, at, atomic.bytes()) instanceof Scalar,
                        Rule.POINTER_LEAK,
                        "an address is changed in the stack");
                storeStack(state, at, atomic.bytes(), Scalar.of(Range.ofBits(8 * atomic.bytes())));
            }
            case CONTEXT, MAP ->
                throw new Violation(Rule.NOT_A_POINTER, "atomic operations work on map values and the stack only");
        }
        if (compares || atomic.fetch()) {
            Registers.write(state, compares ? 0 : atomic.source(), Scalar.of(Range.ofBits(8 * atomic.bytes())));
        }
    }

    /** The address that an instruction computes; may be dereferenced as far as being one goes. */
    private static Pointer pointer(State state, int register, int offset) throws Violation {
        Value value = Registers.read(state, register);
        if (!(value instanceof Pointer pointer)) {
            throw new Violation(
                    Rule.NOT_A_POINTER, "r%d is used as an address, but is a number: %s".formatted(register, value));
        }
        require(
                !pointer.nullable(),
                Rule.NULL_CHECK,
                "r%d may be zero, since the key may not be in %s%d; compare it with 0 first"
                        .formatted(register, Value.MAP, pointer.index()));
        return pointer.at(moved(pointer.offset(), offset));
    }

    private static Range moved(Range range, int by) {
        return trigon.policy.range.RangeArithmetic.apply(
                trigon.policy.isa.Instruction.AluOperation.ADD, true, range, Range.constant(by));
    }

    private static void checkAligned(Pointer at, int bytes) throws Violation {
        require(
                at.offset().isMultipleOf(bytes),
                Rule.ALIGNMENT,
                "%d bytes at offset %s, which has to be a multiple of %d".formatted(bytes, at.offset(), bytes));
    }

    private Field field(Pointer at, int bytes) throws Violation {
        long offset = at.offset().min();
        boolean constant = at.offset().isConstant();
        if (constant) {
            Optional<Field> field = facts.type.fields().stream()
                    .filter(f -> offset >= f.offset() && offset + bytes <= f.offset() + f.bytes())
                    .findFirst();
            if (field.isPresent()) {
                return field.get();
            }
        }
        throw new Violation(
                Rule.CONTEXT_BOUNDS,
                "%d bytes at offset %s of the context are no field; the context of %s has %d bytes"
                        .formatted(bytes, at.offset(), facts.type.section(), facts.type.contextBytes()));
    }

    private void storeContext(State state, Pointer at, int bytes, Value value) throws Violation {
        Field field = field(at, bytes);
        require(field.isOutput(), Rule.READ_ONLY, "the field %s is an input".formatted(field.name()));
        require(
                bytes == field.bytes(),
                Rule.CONTEXT_BOUNDS,
                "a part of the field %s is written, %d bytes of %d".formatted(field.name(), bytes, field.bytes()));
        Range written = ((Scalar) value).range().signExtended(8 * bytes);
        require(
                written.min() >= field.min() && written.max() <= field.max(),
                Rule.OUTPUT_BOUNDS,
                "%s may become %s, but has to be from %d to %d; compare it with its bounds first"
                        .formatted(field.name(), written, field.min(), field.max()));
        facts.touch(state, at, at.offset().min(), at.offset().min() + bytes);
    }

    private Value loadStack(State state, Pointer at, int bytes) throws Violation {
        checkStack(state, at, bytes);
        StackMemory stack = state.frames.get(at.index()).stack;
        int from = (int) at.offset().min();
        int to = (int) at.offset().max() + bytes;
        Value value = null;
        if (at.offset().isConstant()) {
            value = stack.load(from, bytes);
        } else if (stack.isNumber(from, to)) {
            value = Scalar.of(Range.ofBits(8 * bytes));
        }
        if (value == null) {
            throw new Violation(
                    Rule.UNINITIALIZED,
                    "the stack is read from %d to %d, where not all was written, or a part of an address is"
                            .formatted(from, to));
        }
        return value;
    }

    private void storeStack(State state, Pointer at, int bytes, Value value) throws Violation {
        checkStack(state, at, bytes);
        StackMemory stack = state.frames.get(at.index()).stack;
        int from = (int) at.offset().min();
        if (value instanceof Pointer pointer) {
            require(
                    bytes == 8 && at.offset().isConstant(),
                    Rule.POINTER_LEAK,
                    "a part of an address is written, or to an unknown place");
            require(
                    pointer.region() != Region.STACK || pointer.index() <= at.index(),
                    Rule.POINTER_LEAK,
                    "an address in a function's stack is given to its caller");
            stack.store(from, bytes, value);
        } else if (at.offset().isConstant()) {
            boolean whole = bytes == 8;
            stack.store(
                    from,
                    bytes,
                    whole ? value : Scalar.of(((Scalar) value).range().lowBits(8 * bytes)));
        } else {
            stack.storeSomewhere(from, (int) at.offset().max() + bytes);
        }
    }

    private void checkStack(State state, Pointer at, int bytes) throws Violation {
        long from = at.offset().min();
        long to = at.offset().max() + bytes;
        require(
                from >= -StackMemory.BYTES && to <= 0,
                Rule.STACK_BOUNDS,
                "an access to the stack from %d to %d, which goes from -%d to 0"
                        .formatted(from, to, StackMemory.BYTES));
        facts.touch(state, at, from, to);
    }

    private void checkWritable(Pointer at) throws Violation {
        MapSpec map = facts.maps.get(at.index());
        require(!map.readOnly(), Rule.READ_ONLY, "map %s holds constants".formatted(map.name()));
    }

    private void checkMapValue(State state, Pointer at, long bytes) throws Violation {
        MapSpec map = facts.maps.get(at.index());
        long from = at.offset().min();
        long to = at.offset().max() + bytes;
        require(
                from >= 0 && to <= map.valueBytes(),
                Rule.MAP_BOUNDS,
                "an access to bytes %d to %d of a value of map %s; compare the index with its bounds first"
                        .formatted(from, to, map));
        facts.touch(state, at, from, to);
    }

    /** Memory that a helper reads. */
    void checkReadable(State state, int register, long bytes) throws Violation {
        Pointer at = pointer(state, register, 0);
        switch (at.region()) {
            case STACK -> {
                checkStack(state, at, (int) bytes);
                int from = (int) at.offset().min();
                int to = (int) (at.offset().max() + bytes);
                require(
                        state.frames.get(at.index()).stack.isNumber(from, to),
                        Rule.UNINITIALIZED,
                        "r%d: of the stack from %d to %d not all was written; padding of structures counts, too"
                                .formatted(register, from, to));
            }
            case MAP_VALUE -> checkMapValue(state, at, bytes);
            case CONTEXT, MAP ->
                throw new Violation(
                        Rule.HELPER_ARGUMENT,
                        "r%d has to point into the stack or a map value, but is %s".formatted(register, at));
        }
    }
}
