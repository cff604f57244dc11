package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.testsupport.Seed;

class PartSharesTest {

    @Test
    void partsCoverEveryByteOnceEndAtLinesAndAreAsTheSpeeds() {
        long seed = Seed.next();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            int[] speeds = random.ints(random.nextInt(1, 9), 1, 400_001).toArray();
            int size = random.nextInt(4) == 0 ? random.nextInt(1025) : random.nextInt((1 << 30) + 1);
            PartShares shares = new PartShares(speeds);
            double sum = 0;
            int from = 0;
            for (int path = 0; path < speeds.length; path++) {
                String which = "seed %d, %d bytes, path %d".formatted(seed, size, path);
                int end = shares.end(path, size);
                assertThat(end).as(which).isBetween(from, size);
                if (path < speeds.length - 1) {
                    assertThat(end % PartShares.LINE).as(which).isZero();
                }
                sum += shares.share(path);
                // a line that is not divided, what is no whole line, and what is lost by rounding
                assertThat((double) end).as(which).isCloseTo(sum * size, within(256.0 + size * 1e-6));
                from = end;
            }
            assertThat(from).as("seed %d", seed).isEqualTo(size);
            assertThat(sum).isCloseTo(1, within(1e-9));
        }
    }

    @Test
    void sharesAreInProportionButNoneIsNothing() {
        PartShares shares = new PartShares(25_000, 100_000);
        assertThat(shares.share(0)).isEqualTo(0.2);
        assertThat(shares.share(1)).isEqualTo(0.8);

        assertThat(new PartShares(1, 400_000).share(0)).isCloseTo(PartShares.MIN, within(0.001));
    }

    /** Links that carry so many bytes per microsecond; messages one after the other, or several at a time. */
    @ParameterizedTest
    @CsvSource({"1000, 1000, 1", "1000, 4000, 1", "4000, 1000, 1", "1000, 4000, 8", "300, 10000, 8", "1000, 1000, 8"})
    void sharesComeToWhatTheLinksCarry(int first, int second, int atATime) {
        PartShares shares = new PartShares(100, 100);
        int size = 1 << 20;
        int[] rates = {first, second};
        long[] free = new long[2];
        PriorityQueue<Part> underWay = new PriorityQueue<>(Comparator.comparingLong(Part::end));
        int[] unfinished = new int[4_000];
        long now = 1;
        for (int message = 0; message < unfinished.length; message++) {
            while (message >= atATime && unfinished[message - atATime] > 0) {
                Part next = underWay.remove();
                now = Math.max(now, next.end);
                shares.arrived(next.path, next.bytes, now);
                if (--unfinished[next.message] == 0) {
                    shares.completed(now);
                }
            }
            int from = 0;
            for (int path = 0; path < 2; path++) {
                int end = shares.end(path, size);
                shares.posted(path, now);
                free[path] = Math.max(free[path], now) + (end - from) * 1_000L / rates[path];
                underWay.add(new Part(message, path, end - from, free[path]));
                unfinished[message]++;
                from = end;
            }
        }
        double right = (double) first / (first + second);
        assertThat(shares.share(0)).isCloseTo(Math.max(right, PartShares.MIN), within(right / 4));
    }

    private record Part(int message, int path, int bytes, long end) {}

    @Test
    void smallDifferencesAreNoise() {
        PartShares shares = new PartShares(100, 100);
        long now = 1;
        for (int message = 0; message < 100; message++) {
            shares.posted(0, now);
            shares.posted(1, now);
            shares.arrived(0, 1 << 20, now + PartShares.WINDOW_NANOS);
            shares.arrived(1, 1 << 20, now + PartShares.WINDOW_NANOS * 11 / 10);
            now += PartShares.WINDOW_NANOS * 11 / 10;
            shares.completed(now);
        }
        assertThat(shares.share(0)).isEqualTo(0.5);
    }

    /** A path that carried nothing tells nothing. */
    @Test
    void whatIsNotMeasuredChangesNothing() {
        PartShares shares = new PartShares(100, 300);
        long now = 1;
        for (int message = 0; message < 100; message++) {
            shares.posted(0, now);
            shares.arrived(0, 1 << 20, now + PartShares.WINDOW_NANOS);
            now += PartShares.WINDOW_NANOS;
            shares.completed(now);
        }
        assertThat(shares.share(0)).isEqualTo(0.25);
    }
}
