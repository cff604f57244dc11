package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.program.Helper;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;

/** The header for authors says what the tables of program types say. */
class HeaderTest {

    private static final Path HEADER = Path.of("src", "main", "c", "trigon_policy.h");

    @ParameterizedTest
    @CsvSource({"tuner, trigon_tuner", "chunk, trigon_chunk", "profiler, trigon_profiler", "net/connect, trigon_connect"
    })
    void structuresAreTheContexts(String section, String structure) throws IOException {
        ProgramType type = ProgramType.ofSection(section).orElseThrow();
        Matcher body = Pattern.compile("struct " + structure + " \\{(.*?)\n};", Pattern.DOTALL)
                .matcher(Files.readString(HEADER));
        assertThat(body.find()).isTrue();
        Matcher member = Pattern.compile("([us])(32|64) (\\w+);([^\n]*)").matcher(body.group(1));
        List<String> declared = new ArrayList<>();
        int offset = 0;
        while (member.find()) {
            int bytes = Integer.parseInt(member.group(2)) / 8;
            offset = (offset + bytes - 1) / bytes * bytes;
            boolean output = member.group(4).contains("output");
            declared.add("%s %d %d %b".formatted(member.group(3), offset, bytes, output));
            assertThat(member.group(1).equals("s")).isEqualTo(output);
            offset += bytes;
        }
        assertThat(declared)
                .isEqualTo(type.fields().stream().map(HeaderTest::describe).toList());
        assertThat(type.contextBytes()).isEqualTo((offset + 7) / 8 * 8);
    }

    private static String describe(Field field) {
        return "%s %d %d %b".formatted(field.name(), field.offset(), field.bytes(), field.isOutput());
    }

    /** NCCLbpf's names of the types are others. */
    @Test
    void theStructureOfNcclBpfIsTheContext() throws IOException {
        Matcher body = Pattern.compile("struct nccl_policy_ctx \\{(.*?)\n};", Pattern.DOTALL)
                .matcher(Files.readString(HEADER.resolveSibling("ncclbpf_compat.h")));
        assertThat(body.find()).isTrue();
        assertThat(Pattern.compile("uint(32|64)_t (\\w+);")
                        .matcher(body.group(1))
                        .results()
                        .map(member -> member.group(2) + " " + Integer.parseInt(member.group(1)) / 8))
                .isEqualTo(ProgramType.NCCLBPF.fields().stream()
                        .map(field -> field.name() + " " + field.bytes())
                        .toList());
    }

    @Test
    void helpersAndMapTypesAreThere() throws IOException {
        String header = Files.readString(HEADER);
        for (Helper helper : Helper.values()) {
            assertThat(header)
                    .containsPattern(
                            "\\(\\*const %s\\)\\(.*\\) = \\(void \\*\\)%d;".formatted(helper.cName(), helper.number()));
        }
        for (MapType type : MapType.values()) {
            assertThat(header).containsPattern("#define BPF_MAP_TYPE_\\w+ %d\\b".formatted(type.number()));
        }
    }

    /** Only with the clang that made them: another version may order instructions differently. */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void objectsAreWhatTheirSourcesGive() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/clang-19")), "there is no clang 19 here");
        Process check = new ProcessBuilder("./build-objects.sh", "--check")
                .redirectErrorStream(true)
                .start();
        String output = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor()).as(output).isZero();
    }
}
