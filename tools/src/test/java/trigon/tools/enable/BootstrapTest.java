package trigon.tools.enable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.cluster.machine.Nic;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.system.InterfaceAddress;

class BootstrapTest {

    /** Those interfaces by index, NAME or NAME=ADDRESS, all up. */
    private static List<Nic> nics(String names) {
        List<HostInterface> interfaces = new ArrayList<>();
        for (String each : names.split(" ", -1)) {
            String[] parts = each.split("=", -1);
            String address = parts.length == 1 ? "10.0.%d.1/24".formatted(interfaces.size()) : parts[1];
            interfaces.add(new HostInterface(
                    parts[0],
                    interfaces.size() + 1,
                    !address.equals("down"),
                    parts[0].equals("lo"),
                    address.equals("down") ? List.of() : List.of(InterfaceAddress.parse(address)),
                    0));
        }
        return Nic.ofNccl(new HostInterfaces(interfaces));
    }

    @ParameterizedTest
    @CsvSource({
        "lo cable0 eno1,             eno1,   =eno1",
        "lo eno1 cable0,             eno1,   ''",
        "lo ibs1 eno1,               eno1,   =eno1",
        "lo eno1 ibs1,               eno1,   =eno1",
        "lo docker0 eno1,            eno1,   ''",
        "lo cable0=fe80::1/64 eno1,  eno1,   ''",
        "lo cable0 wifi=down eno1,   wifi eno1, =eno1",
        "lo cable0 eno1,             eno7,   doubt cable0",
        "lo cable0 eno1,             '',     doubt cable0",
        "lo docker0 eno1,            '',     ''",
        "lo,                         '',     ''"
    })
    void theInterfaceOfTheDefaultRouteIsSetWhereNcclTakesAnother(String nics, String routes, String expected) {
        Bootstrap choice = Bootstrap.of(
                nics(nics),
                Stream.of(routes.split(" ", -1)).filter(each -> !each.isEmpty()).toList());

        if (expected.startsWith("doubt ")) {
            assertThat(choice.setting()).isEmpty();
            assertThat(choice.doubt().orElseThrow()).contains("NCCL, which takes " + expected.substring(6));
        } else {
            assertThat(choice.setting().orElse("")).isEqualTo(expected);
            assertThat(choice.doubt()).isEmpty();
        }
    }
}
