package trigon.integration.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;

/** A cable is cut under a running all-reduce, as the command shows it: in network namespaces, or else without. */
@Timeout(300)
class CutDemoIT {

    private static final int COLUMNS = 80;

    private static String demo(List<String> before, String... more) throws Exception {
        List<String> command = new ArrayList<>(before);
        command.add(HostProgram.distribution().resolve("bin/trigon").toString());
        command.addAll(List.of("demo", "--cut", "--away", "1"));
        command.addAll(List.of(more));
        Process demo = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).as(output).isZero();
        return whole(output);
    }

    /** With lines that go on joined to those that they go on from; all of them fit a terminal. */
    static String whole(String output) {
        assertThat(output.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(COLUMNS));
        return output.replaceAll("\n {6}", " ");
    }

    /** In a chroot, for one, root makes a namespace, and can run nothing in it. */
    @Test
    @Tag("long")
    void whereNamespacesAreOfNoUseItSaysThatConnectionsAreEnded(@TempDir Path programs) throws Exception {
        Path ip = Files.writeString(programs.resolve("ip"), "#!/bin/sh\n[ \"$1\" != -n ]\n");
        assertThat(ip.toFile().setExecutable(true)).isTrue();
        String output = demo(List.of("env", "PATH=" + programs + ":" + System.getenv("PATH")));

        assertThat(output)
                .contains("cannot create network namespaces here, so the demo closes a cable's connections")
                .contains("-- the TCP connections of cable ab")
                .contains("a: the connection to b goes on over lo 127.")
                .contains("The job went on over new connections. Every element was right on every rank.")
                .doesNotContain("is cut:", "dmesg");
    }

    @Test
    void theJobGoesOnAndReturns() throws Exception {
        String output = demo(List.of());

        assertThat(output)
                .contains("a: the connection to b goes on over")
                .contains("Every element was right on every rank")
                .doesNotContain(" 1 wrong");
        if (output.contains("in network namespaces")) {
            assertThat(output).contains("a: the connection to b returns to");
        }
    }
}
