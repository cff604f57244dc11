package trigon.software.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.VarHandle;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.system.Memory;
import trigon.testsupport.NativeBuffer;

@Timeout(180)
class OrderedCopyTest {

    @Test
    void copiesExactlyTheMessageWhereverItIsCut() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        try (NativeBuffer from = new NativeBuffer(4096).randomize(random);
                NativeBuffer to = new NativeBuffer(4096)) {
            OrderedCopy copy = new OrderedCopy();
            for (int round = 0; round < 20_000; round++) {
                int length = random.nextInt(round % 3 == 0 ? 3000 : 40);
                int source = random.nextInt(64);
                int target = random.nextInt(1, 64);
                to.fill((byte) round);

                copy.start(to.at(target), length);
                int done = 0;
                while (done < length) {
                    int piece = random.nextInt(1, Math.min(length - done, round % 2 == 0 ? 3000 : 200) + 1);
                    copy.accept(from.at(source + done), piece);
                    done += piece;
                }

                String what =
                        "round %d of seed %d: %d bytes from %d to %d".formatted(round, seed, length, source, target);
                assertThat(to.bytes(target, length)).as(what).isEqualTo(from.bytes(source, length));
                assertThat(Memory.getByte(to.at(target - 1))).as(what).isEqualTo((byte) round);
                assertThat(Memory.getByte(to.at(target + length))).as(what).isEqualTo((byte) round);
            }
        }
    }

    /** A reader that polls the last word of each line, as NCCL's LL128 does, never sees it before the rest. */
    @ParameterizedTest
    @ValueSource(ints = {3, 8})
    void showsTheLastWordOfALineLast(int start) throws InterruptedException {
        int lines = 16;
        int bytes = lines * OrderedCopy.LINE;
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<String> failure = new AtomicReference<>("");
        try (NativeBuffer from = new NativeBuffer(bytes + 64);
                NativeBuffer to = new NativeBuffer(bytes)) {
            Thread reader = new Thread(() -> {
                while (!stop.get() && failure.get().isEmpty()) {
                    checkLines(to, lines, failure);
                }
            });
            reader.start();
            Random random = new Random(1);
            OrderedCopy copy = new OrderedCopy();
            for (long value = 1; value < 20_000; value++) {
                for (int i = 0; i < bytes; i += Long.BYTES) {
                    Memory.putLong(from.at(i + start), value);
                }
                copy.start(to.address(), bytes);
                int cut = random.nextInt(bytes / 8) * (random.nextBoolean() ? 8 : 7);
                copy.accept(from.at(start), cut);
                copy.accept(from.at((long) start + cut), bytes - cut);
            }
            stop.set(true);
            reader.join();
        }
        assertThat(failure.get()).isEmpty();
    }

    private static void checkLines(NativeBuffer to, int lines, AtomicReference<String> failure) {
        for (int line = 0; line < lines; line++) {
            long start = to.at((long) line * OrderedCopy.LINE);
            long flag = Memory.getLongAcquire(start + OrderedCopy.LINE - Long.BYTES);
            VarHandle.loadLoadFence();
            for (int i = 0; i < OrderedCopy.LINE; i += Long.BYTES) {
                long word = Memory.getLongAcquire(start + i);
                if (word < flag) {
                    failure.set("line " + line + " shows flag " + flag + " while word " + i / 8 + " is still " + word);
                }
            }
        }
    }
}
