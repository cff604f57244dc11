package trigon.integration.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import trigon.integration.ProjectFiles;
import trigon.integration.ProjectFiles.TextFile;

/**
 * Every message on one page, to be read as a whole: log lines of INFO and above, the texts of exceptions, help, and the
 * sentences that they are made of. With {@code -Dtrigon.docs.write=true} the page is written instead.
 */
class MessagesTest {

    private static final Path PAGE = Path.of("src/test/resources/messages.txt");
    private static final Pattern JAVA = Pattern.compile("(?!testing/|dist/).*/src/main/java/.*\\.java");
    private static final Pattern C = Pattern.compile("native-entry/src/main/c/.*\\.c");

    @Test
    void thePageHasWhatTheSourcesSay() throws IOException {
        List<String> said = messages();
        if (Boolean.getBoolean("trigon.docs.write")) {
            Files.write(PAGE, said);
            return;
        }
        List<String> page = Files.readAllLines(PAGE);
        assertThat(difference(page, said))
                .as("to write the page: ./mvnw -q -B -ntp -pl integration-tests -am test -Dtest=MessagesTest"
                        + " -Dtrigon.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false")
                .isEmpty();
        assertThat(page).as("the page, in the sources' order").isEqualTo(said);
    }

    @Test
    void readsLogLinesExceptionsAndHelpOfJava() {
        String source = """
                @Command(name = "stat", description = "Shows what is there.")
                class Some {
                    private static final String HOW = "run chmod 600";
                    void some() {
                        log.info("link {}: {}", link.name(), carrierOf(link));
                        log.debug("nothing of interest to anybody");
                        LOG.warn("the file " + path + " cannot be read: " + e.getMessage(), e);
                        throw new IOException("it is %s, not %d bytes; %s".formatted(what, file.size(), HOW));
                    }
                    String advice() {
                        return open ? "close the door now" : "no";
                    }
                    void defect() {
                        throw new AssertionError("this can never happen");
                    }
                }
                """;

        assertThat(JavaMessages.of(source))
                .extracting(Message::toString)
                .containsExactly(
                        "HELP  Shows what is there.",
                        "TEXT  run chmod 600",
                        "INFO  link <link>: <carrier of>",
                        "WARN  the file <path> cannot be read: <e>",
                        "FAILS it is <what>, not <size> bytes; run chmod 600",
                        "TEXT  close the door now");
    }

    @Test
    void readsLogLinesAndFailuresOfC() {
        String source = """
                #include "some thing here.h"
                /* "a comment that says nothing" */
                void some(void) {
                  log_text(NCCL_LOG_INFO, "using the JVM "
                           "of this process");
                  start_fails("older than Java " JAVA_RELEASE "; run another");
                  other("%s of the caller");
                }
                """;

        assertThat(CMessages.of(source))
                .extracting(Message::toString)
                .containsExactly(
                        "INFO  using the JVM of this process",
                        "FAILS older than Java <JAVA_RELEASE>; run another",
                        "TEXT  %s of the caller");
    }

    private static List<String> messages() {
        List<String> lines = new ArrayList<>();
        for (TextFile source : sources()) {
            List<Message> messages =
                    source.path().endsWith(".c") ? CMessages.of(source.text()) : JavaMessages.of(source.text());
            if (!messages.isEmpty()) {
                lines.add(lines.isEmpty() ? source.path() : "\n" + source.path());
                messages.forEach(message -> lines.add("  " + message));
            }
        }
        return String.join("\n", lines).lines().toList();
    }

    private static List<TextFile> sources() {
        return ProjectFiles.matching(file -> {
                    String path = ProjectFiles.PROJECT.relativize(file).toString();
                    return JAVA.matcher(path).matches() || C.matcher(path).matches();
                })
                .stream()
                .sorted((one, other) -> one.path().compareTo(other.path()))
                .toList();
    }

    /** As a diff without context: what is only on the page, then what is only in the sources. */
    private static List<String> difference(List<String> page, List<String> said) {
        List<String> difference = new ArrayList<>();
        List<String> added = new ArrayList<>(said);
        for (String line : page) {
            if (!added.remove(line)) {
                difference.add("- " + line);
            }
        }
        added.forEach(line -> difference.add("+ " + line));
        return difference;
    }
}
