package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import trigon.transport.testsupport.TestCluster;

class SoftwareFailedCommunicatorTest extends FailedCommunicatorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.software(directory, """
                a: {nics: [{address: 127.1.14.1/24}]}
                b: {nics: [{address: 127.1.14.2/24}]}
                c: {nics: [{address: 127.1.14.3/24}]}
                """);
    }

    /** Which only links do that take a message before its receive is there. */
    @Test
    void whatWasSentBeforeItsReceiveArrivesHoweverLateItIsAskedFor() throws Exception {
        assertThat(send(bc)).isEqualTo(BYTES);

        aGoesAndBIsTold();
        b.pass(LONG_AFTERWARDS);

        assertThat(outcomeOfReceive(bc)).isEqualTo(BYTES);
        assertThat(outcomeOfReceive(bc)).isEqualTo(REMOTE_ERROR);
    }
}
