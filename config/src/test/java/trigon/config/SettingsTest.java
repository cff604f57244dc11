package trigon.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.config.file.ConfigLoader;
import trigon.config.setting.SettingKey;

/** The table of settings, and what is made of it. */
class SettingsTest {

    private static final Path PAGE = Path.of("..", "docs", "guide", "settings.md");
    private static final Path EXAMPLE = Path.of("..", "docs", "examples", "triangle.yaml");
    private static final String VARIABLES = "| environment variable | default | meaning |\n|---|---|---|\n";
    private static final String KEYS = "| key of the file | default | meaning |\n|---|---|---|\n";

    /** With {@code -Dtrigon.docs.write=true} it writes the tables instead of complaining. */
    @Test
    void thePagesTablesAreTheCodes() throws IOException {
        String page = Files.readString(PAGE);
        String right = withTable(withTable(page, VARIABLES, variables()), KEYS, keys());
        if (Boolean.getBoolean("trigon.docs.write")) {
            Files.writeString(PAGE, right);
            return;
        }

        assertThat(page)
                .as(
                        "the settings in %s; write them anew with: ./mvnw -pl config -am test -Dtest=SettingsTest"
                                + " -Dtrigon.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false",
                        PAGE)
                .isEqualTo(right);
    }

    @Test
    void everyKeyIsInTheExampleWithItsDefault() throws IOException {
        String example = Files.readString(EXAMPLE);
        PluginConfig config = ConfigLoader.load(Map.of("TRIGON_CONFIG", EXAMPLE.toString()), "a");

        for (SettingKey<?> setting : Settings.all()) {
            setting.fileKey().ifPresent(key -> {
                assertThat(example).containsPattern("(?m)^[ #]*" + key.replaceFirst(".*\\.", "") + ":");
                assertThat(config.settings().get(setting).value()).as(key).isIn(setting.defaultValue(), Optional.of(0));
            });
        }
    }

    @Test
    void namesAndKeysAreUnique() {
        assertThat(Settings.all().stream().flatMap(key -> key.variable().stream()))
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("TRIGON_[A-Z_]+"));
        assertThat(Settings.all().stream().flatMap(key -> key.fileKey().stream()))
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "TRIGON_CONFG, TRIGON_CONFIG",
                "TRIGN_CONFIG, TRIGON_CONFIG",
                "TRIGONCONFIG, TRIGON_CONFIG",
                "trigon_links, TRIGON_LINKS",
                "TRIGON_STRIPE, TRIGON_STRIPES",
                "TRIGON_PEER_TIMEOUTS, TRIGON_PEER_TIMEOUT",
                "TRIGON_SOMETHING_ELSE_ALTOGETHER, -",
            })
    void tellsOfVariablesThatAreNoSettings(String name, String meant) {
        List<UnknownVariable> unknown =
                ConfigLoader.load(Map.of(name, "x", "PATH", "/bin"), "a").unknownVariables();

        assertThat(unknown).singleElement().satisfies(variable -> {
            assertThat(variable.name()).isEqualTo(name);
            assertThat(variable.meant().orElse("-")).isEqualTo(meant == null ? "-" : meant);
            assertThat(variable.toString())
                    .startsWith("the environment variable " + name + " is not a setting")
                    .contains(meant == null ? "no effect" : "did you mean " + meant + "?");
        });
    }

    @Test
    void knowsItsOwnVariablesAndLeavesOthersAlone() {
        assertThat(UnknownVariable.among(List.of(
                        "TRIGON_LOG",
                        "TRIGON_HOME",
                        "TRIGON_JAVA_OPTS",
                        "TRIGON_CONTAINERS",
                        "NCCL_DEBUG",
                        "HOME",
                        "CONFIG",
                        "ORIGIN_CONFIG",
                        "")))
                .isEmpty();
    }

    @Test
    void keepsHostileNamesOutOfTheLog() {
        assertThat(UnknownVariable.among(List.of("TRIGON_\n\u001b[31m" + "x".repeat(1000))))
                .singleElement()
                .satisfies(variable -> assertThat(variable.toString())
                        .doesNotContain("\n", "\u001b")
                        .hasSizeLessThan(200));
    }

    private static String withTable(String page, String head, String table) {
        int begin = page.indexOf(head);
        assertThat(begin).as("where the table with %s begins in %s", head, PAGE).isNotNegative();
        int end = page.indexOf("\n\n", begin) + 1;
        return page.substring(0, begin) + head + table + page.substring(end);
    }

    private static String variables() {
        StringBuilder table = new StringBuilder();
        for (SettingKey<?> setting : Settings.all()) {
            if (setting.variable().isPresent() && setting.reader() != SettingKey.Reader.TOOLS) {
                table.append("| `%s` | %s | %s%s |\n"
                        .formatted(
                                setting.variable().get(),
                                setting.defaultText(),
                                setting.meaning(),
                                setting.fileKey()
                                        .map(". Overrides `%s` of the file"::formatted)
                                        .orElse("")));
            }
        }
        return table.toString();
    }

    /** Those of the file that no variable sets. */
    private static String keys() {
        StringBuilder table = new StringBuilder();
        for (SettingKey<?> setting : Settings.all()) {
            if (setting.variable().isEmpty()) {
                table.append("| `%s` | %s | %s |\n"
                        .formatted(setting.fileKey().orElseThrow(), setting.defaultText(), setting.meaning()));
            }
        }
        return table.toString();
    }
}
