package trigon.stream.dial;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class NarrowPathsTest {

    private static final InetAddress A = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress B = InetAddress.ofLiteral("10.0.0.2");

    private final AtomicLong now = new AtomicLong();
    private final NarrowPaths paths = new NarrowPaths(now::get);

    @Test
    void aPairOfAddressesIsNarrowForAMinuteAndForItsDirectionAlone() {
        assertThat(paths.add(A, B, 1400)).isTrue();
        assertThat(paths.segmentBytes(A, B)).isEqualTo(1400);
        assertThat(paths.segmentBytes(B, A)).isZero();
        now.addAndGet(NarrowPaths.LASTS.toNanos() + 1);
        assertThat(paths.segmentBytes(A, B)).isZero();
        // the same again is no news
        assertThat(paths.add(A, B, 1400)).isFalse();
        assertThat(paths.segmentBytes(A, B)).isEqualTo(1400);
    }

    @Test
    void theFullSizeThatPassesEndsIt() {
        assertThat(paths.remove(A, B)).isFalse();
        assertThat(paths.add(A, B, 1400)).isTrue();
        assertThat(paths.remove(A, B)).isTrue();
        assertThat(paths.segmentBytes(A, B)).isZero();
        assertThat(paths.add(A, B, 4000)).isTrue();
    }
}
