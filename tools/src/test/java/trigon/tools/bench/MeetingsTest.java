package trigon.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeetingsTest {

    /** Debian's /etc/hosts gives the host's own name such an address: ranks of other machines would wait for ever. */
    @ParameterizedTest
    @CsvSource({
        "n1, 127.0.1.1, true",
        "n1, 192.168.1.5, false",
        "localhost, 127.0.0.1, false",
        "127.0.0.1, 127.0.0.1, false"
    })
    void aNameOnTheLoopbackIsNoPlaceForOthersToMeet(String host, String address, boolean isFlawed) {
        assertThat(Meetings.flaw(host, InetAddress.ofLiteral(address)).isPresent())
                .isEqualTo(isFlawed);
    }
}
