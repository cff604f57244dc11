package trigon.policy.verify;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verify.State.Frame;

/**
 * The real content of registers and stacks in one run. Written without {@link Subsumption}: the meaning of a state, to
 * hold the comparison of states against.
 */
final class Machine {

    /** Number of a map's values; the first one is that of an address which comes of no look-up. */
    private static final int ENTRIES = 3;

    /** A number, or an address; zero is a number. */
    sealed interface Word {}

    record Num(long value) implements Word {}

    record Address(Region region, int index, int entry, long offset) implements Word {}

    /** A byte of the stack: of a number, or a part of an address. */
    private record Part(Word of, int part) {
        boolean isNumber() {
            return of instanceof Num;
        }
    }

    /** A value that was stored on a stack in one piece. */
    private record Piece(int at, int size, Value value) {}

    /**
     * The meaning of a state, looked up once for many machines.
     *
     * @param pieces of each frame's stack
     * @param numbers offsets on each frame's stack that hold numbers
     */
    record Meaning(State state, List<List<Piece>> pieces, List<List<Integer>> numbers) {

        static Meaning of(State state) {
            return new Meaning(
                    state,
                    state.frames.stream().map(frame -> pieces(frame.stack)).toList(),
                    state.frames.stream().map(frame -> numbers(frame.stack)).toList());
        }

        private static List<Piece> pieces(StackMemory stack) {
            List<Piece> pieces = new ArrayList<>();
            for (int size : new int[] {1, 2, 4, 8}) {
                for (int at = -RandomStates.USED_STACK; at <= -size; at += size) {
                    Value value = stored(stack, at, size);
                    if (value != null) {
                        pieces.add(new Piece(at, size, value));
                    }
                }
            }
            return pieces;
        }

        private static List<Integer> numbers(StackMemory stack) {
            return IntStream.range(-RandomStates.USED_STACK, 0)
                    .filter(at -> stack.isNumber(at, at + 1))
                    .boxed()
                    .toList();
        }
    }

    private final List<Word[]> registers = new ArrayList<>();
    private final List<Part[]> stacks = new ArrayList<>();

    /** The words that ids stand for in this run. */
    private final Map<Integer, Word> ids = new HashMap<>();

    private final Random random;

    private Machine(Random random) {
        this.random = random;
    }

    /** One of the machines that a state stands for. */
    static Machine of(State state, Random random) {
        Machine machine = new Machine(random);
        for (Frame frame : state.frames) {
            Word[] words = new Word[Frame.REGISTERS];
            for (int i = 0; i < words.length; i++) {
                words[i] = machine.word(frame.registers[i]);
            }
            machine.registers.add(words);
            machine.stacks.add(machine.stack(frame.stack));
        }
        return machine;
    }

    private Part[] stack(StackMemory stack) {
        Part[] bytes = new Part[StackMemory.BYTES];
        for (int i = StackMemory.BYTES - RandomStates.USED_STACK; i < bytes.length; i++) {
            bytes[i] = new Part(anything(), random.nextInt(8));
        }
        for (int at = -RandomStates.USED_STACK; at < 0; at++) {
            int index = at + StackMemory.BYTES;
            if (stack.isNumber(at, at + 1)) {
                bytes[index] = new Part(new Num(random.nextInt(256)), 0);
            }
        }
        for (int size : new int[] {1, 2, 4, 8}) {
            for (int at = -RandomStates.USED_STACK; at <= -size; at += size) {
                Value value = stored(stack, at, size);
                if (value != null) {
                    Word word = word(value);
                    for (int part = 0; part < size; part++) {
                        int index = at + StackMemory.BYTES + part;
                        bytes[index] = word instanceof Num(long number)
                                ? new Part(new Num(number >>> (8 * part) & 0xff), 0)
                                : new Part(word, part);
                    }
                }
            }
        }
        return bytes;
    }

    /** The value that was stored there in one piece, if any. */
    private static @Nullable Value stored(StackMemory stack, int at, int size) {
        Value loaded = stack.load(at, size);
        return isSame(loaded, stack.load(at, size)) ? loaded : null;
    }

    /** Compares by identity: a value of several pieces is made anew each time. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean isSame(@Nullable Value a, @Nullable Value b) {
        return a == b;
    }

    private Word anything() {
        return random.nextBoolean()
                ? new Num(random.nextInt(256))
                : new Address(Region.MAP_VALUE, random.nextInt(2), random.nextInt(ENTRIES), 8);
    }

    private Word word(Value value) {
        return switch (value) {
            case Value.Unset _ -> anything();
            case Value.Scalar(Range range, int id) -> {
                Word number = id == 0 ? new Num(member(range)) : ids.get(id);
                if (number == null) {
                    number = new Num(member(range));
                    ids.put(id, number);
                }
                yield number;
            }
            case Value.Pointer(Region region, int index, Range offset, boolean nullable, int id) -> {
                Word base = id == 0 ? new Address(region, index, 0, 0) : ids.get(id);
                if (base == null) {
                    base = nullable && random.nextBoolean()
                            ? new Num(0)
                            : new Address(region, index, random.nextInt(ENTRIES), 0);
                    ids.put(id, base);
                }
                yield base instanceof Address(Region _, int _, int entry, long _)
                        ? new Address(region, index, entry, member(offset))
                        : base;
            }
        };
    }

    private long member(Range range) {
        long[] candidates = {
            range.unsignedMin(),
            range.unsignedMax(),
            range.min(),
            range.max(),
            range.unsignedMin() + random.nextInt(16),
            (random.nextLong() & range.bits().mask()) | range.bits().value()
        };
        long chosen = candidates[random.nextInt(candidates.length)];
        return range.contains(chosen) ? chosen : range.unsignedMin();
    }

    /** Tells whether a state stands for this machine. */
    boolean isCaseOf(Meaning meaning) {
        Map<Integer, Word> tied = new HashMap<>();
        for (int i = 0; i < registers.size(); i++) {
            Frame frame = meaning.state.frames.get(i);
            for (int register = 0; register < Frame.REGISTERS; register++) {
                if (!fits(frame.registers[register], registers.get(i)[register], tied)) {
                    return false;
                }
            }
            if (!fits(meaning.numbers.get(i), meaning.pieces.get(i), stacks.get(i), tied)) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(List<Integer> numbers, List<Piece> pieces, Part[] bytes, Map<Integer, Word> tied) {
        for (int at : numbers) {
            if (!bytes[at + StackMemory.BYTES].isNumber()) {
                return false;
            }
        }
        for (Piece piece : pieces) {
            if (!fits(piece.value, joined(bytes, piece.at + StackMemory.BYTES, piece.size), tied)) {
                return false;
            }
        }
        return true;
    }

    /** The result of a load; null for a part of an address, or a mixture. */
    private static @Nullable Word joined(Part[] bytes, int start, int size) {
        if (bytes[start].of instanceof Address address) {
            for (int part = 0; part < size; part++) {
                if (!bytes[start + part].equals(new Part(address, part)) || size != 8) {
                    return null;
                }
            }
            return address;
        }
        long value = 0;
        for (int part = size - 1; part >= 0; part--) {
            if (!(bytes[start + part].of instanceof Num(long number))) {
                return null;
            }
            value = value << 8 | (number & 0xff);
        }
        return new Num(value);
    }

    private static boolean fits(Value value, @Nullable Word word, Map<Integer, Word> tied) {
        return switch (value) {
            case Value.Unset _ -> true;
            case Value.Scalar(Range range, int id) ->
                word instanceof Num(long number) && range.contains(number) && isTied(id, word, tied);
            case Value.Pointer(Region region, int index, Range offset, boolean nullable, int id) ->
                switch (word) {
                    case null -> false;
                    case Num(long number) -> nullable && number == 0 && isTied(id, word, tied);
                    case Address(Region ofRegion, int ofIndex, int entry, long at) ->
                        region == ofRegion
                                && index == ofIndex
                                && offset.contains(at)
                                && (id != 0 || entry == 0)
                                && isTied(id, new Address(ofRegion, ofIndex, entry, 0), tied);
                };
        };
    }

    private static boolean isTied(int id, Word word, Map<Integer, Word> tied) {
        Word before = id == 0 ? word : tied.putIfAbsent(id, word);
        return before == null || before.equals(word);
    }

    @Override
    public String toString() {
        return registers.stream().map(Arrays::toString).toList().toString();
    }
}
