package trigon.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.BindException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PortRangeTest {

    @Test
    void parsesWhatItPrints() {
        assertThat(PortRange.parse("30000-30999")).contains(new PortRange(30_000, 30_999));
        assertThat(PortRange.parse("7471")).contains(new PortRange(7471, 7471));
        assertThat(new PortRange(1, 65_535)).hasToString("1-65535");
        assertThat(new PortRange(7, 7)).hasToString("7");
        assertThat(PortRange.ANY).hasToString("any");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0-10", "-5", "5-", "10-9", "1-65536", "99999", "1 - 2", "1-2-3", "a-b", "٣٠٠٠٠"})
    void othersAreNone(String text) {
        assertThat(PortRange.parse(text)).isEmpty();
    }

    @Test
    void eachIsTriedOnceFromTheProcessesOwnPlaceOn() throws Exception {
        List<Integer> tried = new ArrayList<>();
        PortRange range = new PortRange(10, 13);

        int bound = range.bind(6, port -> take(port, tried, 11));

        assertThat(bound).isEqualTo(11);
        assertThat(tried).containsExactly(12, 13, 10, 11);
        assertThatThrownBy(() -> range.bind(1L << 40, port -> take(port, tried, 0)))
                .isInstanceOf(BindException.class)
                .hasMessage("13 is taken");
    }

    @Test
    void theKernelChoosesAny() throws Exception {
        int asked = PortRange.ANY.bind(port -> port);

        assertThat(asked).isZero();
    }

    private static int take(int port, List<Integer> tried, int free) throws BindException {
        tried.add(port);
        if (port != free) {
            throw new BindException(port + " is taken");
        }
        return port;
    }
}
