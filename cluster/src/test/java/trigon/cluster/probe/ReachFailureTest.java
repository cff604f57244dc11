package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages of OpenSSH 9.2, dash and bash. */
class ReachFailureTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        NO_PROGRAM     | Cannot run program "ssh": Exec failed, error: 2 (No such file or directory)
        OTHER_HOST_KEY | @ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @; Host key verification failed.
        OTHER_HOST_KEY | Host key for b has changed and you have requested strict checking.; Host key
        NO_HOST_KEY    | with exit status 255: Host key verification failed.
        LOGIN_REFUSED  | root@b: Permission denied (publickey,password).
        LOGIN_REFUSED  | Received disconnect from 10.0.0.2 port 22:2: Too many authentication failures
        NO_NAME        | ssh: Could not resolve hostname b: Name or service not known
        NO_NAME        | ssh: Could not resolve hostname b: Temporary failure in name resolution
        REFUSED        | ssh: connect to host b port 22: Connection refused
        UNREACHABLE    | ssh: connect to host b port 22: Connection timed out
        UNREACHABLE    | ssh: connect to host b port 22: No route to host
        UNREACHABLE    | kex_exchange_identification: Connection closed by remote host; Connection reset by 10.0.0.2
        NO_TRIGON      | with exit status 127: bash: line 1: /opt/trigon/bin/trigon: No such file or directory
        NO_TRIGON      | with exit status 127: sh: 1: /opt/trigon/bin/trigon: not found
        NO_TRIGON      | with exit status 126: bash: line 1: /opt/trigon/bin/trigon: Permission denied
        UNKNOWN        | the agent on b has ended with exit status 3
        """)
    void isToldByTheWords(ReachFailure reason, String message) {
        assertThat(ReachFailure.of(message)).isEqualTo(reason);
    }

    @Test
    void eachHasARemedyOfItsOwn() {
        assertThat(Stream.of(ReachFailure.values()).map(each -> each.remedy("b")))
                .doesNotHaveDuplicates()
                .noneMatch(text -> text.contains("%"))
                .contains("log in once by hand, and accept the node's host key: ssh b");
    }
}
