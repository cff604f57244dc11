package trigon.integration.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.ProjectFiles;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/**
 * Every message on one page, to be read as a whole: log lines of INFO and above, the texts of exceptions, help, and the
 * sentences that they are made of. Each run writes the page to {@code integration-tests/target/messages.txt}.
 */
class MessagesTest {

    private static final Path PAGE = Path.of("target", "messages.txt");
    private static final Pattern JAVA = Pattern.compile("(?!testing/|dist/).*/src/main/java/.*\\.java");
    private static final Pattern JAVA_EXCEPTION = Pattern.compile("\\b[A-Z]\\w+Exception\\b");
    private static final Pattern C = Pattern.compile("native-entry/src/main/c/.*\\.c");

    @Test
    void writesThePage() throws IOException {
        List<String> page = messages();
        Files.write(PAGE, page);

        assertThat(page)
                .contains("config/src/main/java/trigon/config/Settings.java", "native-entry/src/main/c/host/jvm.c");
        for (String kind : List.of("HELP", "INFO", "WARN", "FAILS", "TEXT")) {
            assertThat(page).as("lines of the kind %s", kind).anyMatch(line -> line.startsWith("  " + kind + " "));
        }
        assertThat(page)
                .as("messages that show the name of a Java exception instead of what failed")
                .noneMatch(line ->
                        line.startsWith("  ") && JAVA_EXCEPTION.matcher(line).find());
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
}
