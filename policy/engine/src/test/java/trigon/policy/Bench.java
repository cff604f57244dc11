package trigon.policy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import trigon.policy.compile.Compiler;
import trigon.policy.compile.PolicyCode;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.MapSet;
import trigon.policy.map.PolicyMap;
import trigon.policy.program.Helper;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.program.ProgramType.Field.Direction;
import trigon.policy.verdict.VerifiedProgram;

/**
 * Runs one program twice, compiled and interpreted, each on memory of its own, with garbage where nothing is written.
 */
final class Bench implements AutoCloseable {

    static final int CONTEXT_BYTES = 128;
    private static final int STACK_BYTES = 9 * 512;
    private static final int BYTES = CONTEXT_BYTES + STACK_BYTES + PolicyCode.BELOW_STACK_BYTES;

    /** Two numbers in, two out, any result. */
    static final ProgramType TYPE = new ProgramType(
            "test",
            List.of(
                    new Field("a", 0, 8, Direction.INPUT, true, 0, 0),
                    new Field("b", 8, 8, Direction.INPUT, true, 0, 0),
                    new Field("c", 16, 4, Direction.INPUT, false, 0, 0),
                    new Field("x", 24, 8, Direction.OUTPUT, true, Long.MIN_VALUE, Long.MAX_VALUE),
                    new Field("y", 32, 4, Direction.OUTPUT, true, -5, 1000)),
            CONTEXT_BYTES,
            EnumSet.of(Helper.MAP_LOOKUP, Helper.MAP_UPDATE, Helper.MAP_DELETE, Helper.RINGBUF_OUTPUT),
            Long.MIN_VALUE,
            Long.MAX_VALUE,
            true,
            100_000);

    private static final int GARBAGE_LONGS = 1 << 16;
    private static final MemorySegment GARBAGE =
            MemorySegment.ofArray(new Random(7).longs(GARBAGE_LONGS).toArray());

    private final Arena arena = Arena.ofConfined();
    private final PolicyObject object;
    private final List<PolicyMap> compiledMaps;
    private final List<PolicyMap> interpretedMaps;
    private final PolicyCode code;
    private final MemorySegment compiledMemory = arena.allocate(BYTES, 64);
    private final MemorySegment interpretedMemory = arena.allocate(BYTES, 64);
    private final VerifiedProgram program;
    private final long worstCase;

    Bench(VerifiedProgram program) throws Exception {
        this.program = program;
        object = program.object();
        compiledMaps = new MapSet().bind(object.maps());
        interpretedMaps = new MapSet().bind(object.maps());
        worstCase = program.worstCase();
        code = Compiler.compile(program, compiledMaps, worstCase);
    }

    /** The result, which is the same both ways; so are outputs and maps, or this fails. */
    long run(long a, long b, Random garbage) {
        for (MemorySegment memory : List.of(compiledMemory, interpretedMemory)) {
            fill(memory, garbage);
            memory.set(ValueLayout.JAVA_LONG, 0, a);
            memory.set(ValueLayout.JAVA_LONG, 8, b);
        }
        return run();
    }

    /** The same with the inputs of the program's kind at random. */
    long run(Random random) {
        fill(compiledMemory, random);
        for (Field field : program.type().fields()) {
            long number = random.nextInt(3) == 0 ? random.nextLong() >>> random.nextInt(64) : random.nextInt(8);
            field.set(compiledMemory.address(), field.isOutput() ? 0 : number);
        }
        MemorySegment.copy(compiledMemory, 0, interpretedMemory, 0, CONTEXT_BYTES);
        return run();
    }

    private long run() {
        long compiled = code.run(compiledMemory.address(), compiledMemory.address() + CONTEXT_BYTES + STACK_BYTES, 0);
        Interpreter interpreter = new Interpreter(object, interpretedMaps, worstCase);
        interpreter.allow(interpretedMemory.address(), CONTEXT_BYTES + STACK_BYTES);
        long interpreted = interpreter.run(
                program.entry(),
                interpretedMemory.address(),
                interpretedMemory.address() + CONTEXT_BYTES + STACK_BYTES);
        if (compiled != interpreted) {
            throw new AssertionError(
                    "%s: compiled %x, interpreted %x".formatted(program.name(), compiled, interpreted));
        }
        same(compiledMemory.asSlice(0, CONTEXT_BYTES), interpretedMemory.asSlice(0, CONTEXT_BYTES), "context");
        for (int map = 0; map < compiledMaps.size(); map++) {
            MemorySegment one = compiledMaps.get(map).memory();
            MemorySegment other = interpretedMaps.get(map).memory();
            same(one.asSlice(0, one.byteSize() / 2), other.asSlice(0, one.byteSize() / 2), "map " + map);
        }
        return compiled;
    }

    /** As the last run has left it. */
    MemorySegment context() {
        return compiledMemory.asSlice(0, CONTEXT_BYTES);
    }

    /** The output x of the last run. */
    long output() {
        return compiledMemory.get(ValueLayout.JAVA_LONG, 24);
    }

    private static void same(MemorySegment a, MemorySegment b, String what) {
        if (a.mismatch(b) >= 0) {
            throw new AssertionError("the %s differs at byte %d".formatted(what, a.mismatch(b)));
        }
    }

    /** Garbage from another place of the same random bytes each time: to make them anew takes longer than a run. */
    private static void fill(MemorySegment memory, Random garbage) {
        long from = 8L * garbage.nextInt(GARBAGE_LONGS - BYTES / 8);
        MemorySegment.copy(GARBAGE, from, memory, CONTEXT_BYTES, memory.byteSize() - CONTEXT_BYTES);
        memory.asSlice(0, CONTEXT_BYTES).fill((byte) 0);
    }

    @Override
    public void close() {
        arena.close();
    }
}
