package trigon.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.tools.Run;

class ExplainCommandTest {

    @TempDir
    Path folder;

    private Map<String, String> file() throws Exception {
        Path file = Files.writeString(folder.resolve("trigon.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.13.1/24}]}
                  b: {nics: [{address: 127.0.12.2/24}]}
                """);
        return Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a");
    }

    @Test
    void theSameSubnetDecides() throws Exception {
        Run run = Run.of(file(), "explain", "--to", "b");

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains("same subnet /24").contains("not in one subnet");
    }

    @Test
    void noPathSaysWhy() throws Exception {
        Run run = Run.of(file(), "explain", "--to", "203.0.113.9/24");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).contains("no direct path");
    }

    @Test
    void aWrongNodeIsAnError() throws Exception {
        assertThat(Run.of(file(), "explain", "--to", "zz").err())
                .contains("--to is zz")
                .contains("a, b");
        assertThat(Run.of("explain").status()).isEqualTo(2);
    }
}
