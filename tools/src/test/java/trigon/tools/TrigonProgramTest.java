package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.tools.machine.Machine;

class TrigonProgramTest {

    private static final List<String> COMMANDS = List.of(
            "bench", "check", "demo", "doctor", "env", "explain", "jobs", "links", "metrics", "plan", "policy", "relay",
            "support", "top", "train", "verify");

    private static final Machine NOWHERE = new Machine(Path.of("/"), Map.of(), "localhost", "1.2.3", Optional.empty());

    @Test
    void helpHasEveryCommand() {
        Run run = Run.of();

        assertThat(run.status()).isZero();
        assertThat(run.out()).contains(COMMANDS);
        assertThat(run.err()).isEmpty();
    }

    @Test
    void everyCommandHasHelp() {
        for (String command : COMMANDS) {
            Run run = Run.of("help", command);
            assertThat(run.status()).as(command).isZero();
            assertThat(run.out()).contains("Usage: trigon " + command);
        }
    }

    @Test
    void aWrongCommandLineIsTwo() {
        assertThat(Run.of("lynks").status()).isEqualTo(2);
        Run run = Run.of("links", "--jsonn");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("--jsonn").contains("trigon help links");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aNodeWhoseNameIsAnOptionIsAWrongCommandLine() {
        for (String command : List.of("doctor", "check")) {
            Run run = Run.of(command, "--nodes", "here,-oProxyCommand=x");

            assertThat(run.status()).as(run.err()).isEqualTo(2);
            assertThat(run.err()).contains("no name of a node", "trigon help " + command);
        }
    }

    @Test
    void anUnknownCommandIsNamedWithThoseThatAreNear() {
        Run run = Run.of("lynks");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("there is no command \"lynks\"").contains("did you mean links?");
        assertThat(Run.of("help", "doctr").err()).contains("\"doctr\"").contains("doctor");
        assertThat(Run.of("help", "doctr").status()).isEqualTo(2);
        assertThat(Run.of("po").err()).contains("policy");
        assertThat(Run.of("policy", "lst").err()).contains("\"lst\"").contains("list");
        assertThat(Run.of("wholly-different").err())
                .doesNotContain("did you mean")
                .contains("trigon help");
        assertThat(Run.of("links", "more").err()).doesNotContain("no command").contains("more");
    }

    @Test
    void saysItsVersionAndHasNoColoursWithoutATerminal() {
        assertThat(Run.of("help", "links").out()).doesNotContain("\u001b");
    }

    @Test
    void linksOfThisMachineAreShownWhateverItHas() {
        Run text = Run.of("links");
        Run json = Run.of("links", "--json");

        assertThat(text.out()).contains("Interfaces", "RDMA ports", "Links that Trigon uses here");
        assertThat(json.out()).startsWith("{\n  \"schema\": \"trigon.links/1\",\n  \"version\": \"1.2.3\"");
    }

    @Test
    void aWrongSettingIsAProblemAndTheLinksAreShown() {
        Run run = Run.of(Map.of("TRIGON_LINKS", "rdmaa"), "links");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .contains("problem: the environment variable TRIGON_LINKS")
                .contains("Interfaces");
    }

    @Test
    void everyCommandHasAPageOfTheManualAndCompletion(@TempDir Path share) throws Exception {
        ManualPages.main(new String[] {share.toString(), "1.2.3"});

        assertThat(share.resolve("bash-completion/completions/trigon"))
                .content()
                .contains("links", "--json");
        try (Stream<Path> pages = Files.list(share.resolve("man/man1"))) {
            assertThat(pages.map(page -> page.getFileName().toString()))
                    .contains("trigon.1", "trigon-links.1", "trigon-env.1");
        }
        assertThat(share.resolve("man/man1/trigon-links.1"))
                .content()
                .startsWith(".TH \"TRIGON-LINKS\" 1")
                .contains(".SH SYNOPSIS", "\\-\\-json");
        for (String command : List.of("links", "policy verify")) {
            assertThat(share.resolve("help/trigon-" + command.replace(' ', '-') + ".txt"))
                    .content()
                    .isEqualTo(Run.of(NOWHERE, 80, (command + " --help").split(" "))
                            .out());
        }
    }
}
