package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import trigon.testsupport.Await;
import trigon.transport.failure.LinkFaultContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/** Connections over SoftRoCE whose link flaps, or whose GID is removed with its address. */
class ConnectionFaultLabTest extends LinkFaultContract {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String ADDRESS = "10.0.12.1";

    private final VerbsProvider provider = ((Available) Libibverbs.load()).provider();

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """);
    }

    @Override
    protected void cut() throws Exception {
        GuestLink.change("ba", "loss", "100");
    }

    @Override
    protected void mend() throws Exception {
        GuestLink.change("ba", "clear");
    }

    @Override
    protected void removeAddress() throws Exception {
        run("ip", "addr", "del", ADDRESS + "/24", "dev", "ab");
        awaitGid(false);
    }

    @Override
    protected void restoreAddress() throws Exception {
        run("ip", "addr", "add", ADDRESS + "/24", "dev", "ab");
        GuestLink.change("ab", "up"); // the routes that went with the address
        awaitGid(true);
    }

    private void awaitGid(boolean wanted) throws Exception {
        Gid gid = Gid.of(InetAddress.getByName(ADDRESS));
        try (DeviceContext device = provider.open("rxe_ab")) {
            Await.until(
                    () -> "the GID is " + (wanted ? "there" : "gone"),
                    LIMIT,
                    () -> device.gidTable(1).stream()
                                    .anyMatch(entry -> entry.gid().equals(gid))
                            == wanted);
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }
}
