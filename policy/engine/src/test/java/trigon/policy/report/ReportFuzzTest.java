package trigon.policy.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;

/** Whatever a process says of its policy is a report that reads the same once more, or none. */
@Tag("fuzz")
class ReportFuzzTest {

    @FuzzTest
    void reportsAreReadOrRefused(byte[] data) throws IOException {
        PolicyReport report;
        try {
            report = ReportFile.parse(new String(data, StandardCharsets.UTF_8));
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("no process of Trigon's writes");
            return;
        }
        String text = ReportFile.text(report);
        assertThat(text.replace("\n", "").replace("\t", "")).doesNotContainPattern("[\\p{Cc}\\p{Cf}]");
        assertThat(ReportFile.parse(text)).isEqualTo(report);
    }
}
