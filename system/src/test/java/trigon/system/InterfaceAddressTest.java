package trigon.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InterfaceAddressTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.12.1/24",
                "10.0.12.1/31",
                "10.0.12.1/32",
                "1.2.3.4/0",
                "fd00::1/64",
                "::1/128",
                "fd00:0:0:1::/56",
                "1:2:3:4:5:6:7:8/127",
                "::/0",
                "1::8/1",
                "1:0:2::3/64"
            })
    void writesWhatItRead(String text) {
        assertThat(InterfaceAddress.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/24",
                "10.0.12.1",
                "10.0.12.1/",
                "10.0.12.1/33",
                "10.0.12.1/-1",
                "10.0.12.1/024",
                "10.0.12.1/24/24",
                "10.0.12/24",
                "10.0.12.1.1/24",
                "010.0.12.1/24",
                "10.0.12.256/24",
                "10.0.12.999/24",
                " 10.0.12.1/24",
                "10.0.12.1/ 24",
                "localhost/24",
                "fd00::1",
                "fd00::1/129",
                "fd00:::1/64",
                "fd00::g/64",
                "fe80::1%eth0/64",
                "[fd00::1]/64",
                "1:2:3:4:5:6:7:8:9/64",
                "1::2::3/64",
                "10.0.12.1/9999999999",
                "\u0661.0.0.1/24",
                ":/64"
            })
    void rejectsEverythingElse(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> InterfaceAddress.parse(text));
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.12.1/24, 10.0.12.255, true",
        "10.0.12.1/24, 10.0.13.1, false",
        "10.0.12.1/23, 10.0.13.1, true",
        "10.0.12.0/31, 10.0.12.1, true",
        "10.0.12.0/31, 10.0.12.2, false",
        "10.0.12.1/32, 10.0.12.1, true",
        "10.0.12.1/32, 10.0.12.0, false",
        "10.0.12.1/0, 200.1.2.3, true",
        "10.0.12.1/0, fd00::1, false",
        "fd00:0:0:1::1/64, fd00:0:0:1:ffff::2, true",
        "fd00:0:0:1::1/64, fd00:0:0:2::1, false",
        "fd00::/127, fd00::1, true",
        "::/0, 10.0.0.1, false",
    })
    void containsItsSubnet(String subnet, String address, boolean contained) {
        assertThat(InterfaceAddress.parse(subnet).contains(InterfaceAddress.parseAddress(address)))
                .isEqualTo(contained);
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.12.0/24, host bits are all zero",
        "10.0.12.255/24, broadcast",
        "10.0.12.4/30, host bits are all zero",
        "fd00::/64, host bits are all zero",
        "0.0.0.0/0, any address",
        "224.0.0.1/24, multicast",
        "ff02::1/64, multicast",
        "fe80::1/64, link-local",
    })
    void namesWhatMakesAnAddressUnusable(String text, String flaw) {
        assertThat(InterfaceAddress.parse(text).flaw())
                .hasValueSatisfying(value -> assertThat(value).contains(flaw));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"10.0.12.0/31", "10.0.12.1/31", "10.0.12.0/32", "127.0.12.1/24", "fd00::/127", "fd00::1/64"})
    void findsNoFlawInUsableAddresses(String text) {
        assertThat(InterfaceAddress.parse(text).flaw()).isEmpty();
    }

    @Test
    void forgetsHostNameAndMapping() throws UnknownHostException {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 12, 1};

        InetAddress named = InetAddress.getByAddress("some.host", new byte[] {10, 0, 12, 1});

        assertThat(new InterfaceAddress(named, 24)).hasToString("10.0.12.1/24");
        assertThat(new InterfaceAddress(InetAddress.getByAddress(mapped), 24))
                .isEqualTo(InterfaceAddress.parse("10.0.12.1/24"));
    }

    @Test
    void allAddressesOfASubnetHaveItsText() {
        assertThat(InterfaceAddress.parse("10.0.13.201/22").subnet()).isEqualTo("10.0.12.0/22");
        assertThat(InterfaceAddress.parse("fd00:1:2:ff::5/56").subnet()).isEqualTo("fd00:1:2::/56");
        assertThat(InterfaceAddress.parse("10.0.12.1/32").subnet()).isEqualTo("10.0.12.1/32");
    }

    @Test
    void agreesWithTheJdkOnRandomIpv6() throws UnknownHostException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[16];
            for (int at = 0; at < bytes.length; at++) {
                bytes[at] = random.nextInt(3) == 0 ? (byte) random.nextInt(256) : 0;
            }
            bytes[0] = (byte) 0xfd;
            InetAddress address = InetAddress.getByAddress(bytes);

            assertThat(InterfaceAddress.parseAddress(InterfaceAddress.text(address)))
                    .isEqualTo(address);
        }
    }
}
