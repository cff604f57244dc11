package trigon.tools.enable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.cluster.machine.NcclFile;

class MarkedLinesTest {

    private static final List<String> LINES = List.of("A=1", "B=2");
    private static final List<String> OTHERS = List.of("C=3");

    private static MarkedLines of(String text) {
        return MarkedLines.of(Optional.of(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "X=1", "X=1\n", "X=1\n\n", "X=1\r\n", "# none\nX=\u00fc", "\n\nX"})
    void aTextIsAsBeforeOnceTheLinesAreTakenOut(String text) {
        MarkedLines with = of(text).with(LINES);

        assertThat(NcclFile.lines(with.text()))
                .extracting(NcclFile.Line::name)
                .endsWith("A", "B")
                .hasSize(NcclFile.lines(text).size() + 2);
        assertThat(of(with.text()).without()).contains(text);
        assertThat(of(of(with.text()).with(OTHERS).text()).without()).contains(text);
        assertThat(of(with.text()).with(LINES).text()).isEqualTo(with.text());
    }

    @Test
    void aFileThatHadNothingElseIsRemovedUnlessSomebodyHasAddedToIt() {
        String text = MarkedLines.of(Optional.empty()).with(LINES).text();

        assertThat(of(text).without()).isEmpty();
        assertThat(of(of(text).with(OTHERS).text()).without()).isEmpty();
        assertThat(of(text + "X=1\n").without()).contains("X=1\n");
    }

    @Test
    void whatOthersAddLaterStays() {
        String text = of("X=1").with(LINES).text() + "Y=2\n";

        assertThat(of(text).with(OTHERS).text())
                .startsWith("X=1\n#")
                .endsWith("\nY=2\n")
                .contains("\nC=3\n");
        assertThat(of(text).without()).contains("X=1\nY=2\n");
    }

    @Test
    void theFirstLineIsThatOfTheMarker() {
        assertThat(of("X=1\nY=2\n").with(LINES).firstLine()).isEqualTo(3);
        assertThat(of("X=1").with(LINES).firstLine()).isEqualTo(2);
        assertThat(of("").with(LINES).firstLine()).isEqualTo(1);
    }

    @Test
    void markersThatAreNoPairAreRefused() {
        String text = of("X=1\n").with(LINES).text();
        List<String> rows = text.lines().toList();

        for (String broken : List.of(
                String.join("\n", rows.subList(0, rows.size() - 1)),
                String.join("\n", rows.subList(2, rows.size())),
                text + text,
                text + rows.getLast())) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> of(broken))
                    .withMessageMatching("line \\d+ is a marker .*");
        }
    }

    /** NCCL 2.20 to 2.22 takes a comment with this letter for a setting. */
    @Test
    void markersHaveNoEqualsSign() {
        for (Optional<String> text : List.of(Optional.<String>empty(), Optional.of(""), Optional.of("X"))) {
            assertThat(MarkedLines.of(text).with(List.of()).text()).doesNotContain("=");
        }
    }
}
