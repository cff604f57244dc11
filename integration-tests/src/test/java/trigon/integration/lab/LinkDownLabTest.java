package trigon.integration.lab;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.failure.LinkDownContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

class LinkDownLabTest extends LinkDownContract {

    @AfterEach
    void mendTheLink() throws Exception {
        GuestLink.change("ba", "up");
    }

    @Test
    void aLinkThatGoesDownIsNamedAndFailsWhatIsUnderWay(@TempDir Path directory) throws Exception {
        TestCluster cluster = TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """);
        aLinkThatGoesDownIsNamedAndFailsWhatIsUnderWay(
                cluster, () -> GuestLink.change("ba", "down"), () -> GuestLink.change("ba", "up"));
    }
}
