package trigon.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.tools.console.Console;
import trigon.tools.demo.ShapeDemo.Job;

class ReportTest {

    private static final int COLUMNS = 80;

    private static List<String> said(int width, Consumer<Report> demo) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        demo.accept(new Report(new Console(stream, stream, false, false, width)));
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static Stream<Layout> layouts(DemoShape shape) {
        List<Optional<String>> cuts = new ArrayList<>(List.of(Optional.empty()));
        shape.cables().forEach(cable -> cuts.add(Optional.of(cable)));
        return cuts.stream().flatMap(cut -> Stream.of(DemoLinks.values()).map(links -> new Layout(shape, cut, links)));
    }

    @ParameterizedTest
    @EnumSource
    void eachShapeIsIntroducedInLinesOf80Columns(DemoShape shape) {
        Job job = new Job(ShapeDemo.Test.ALL_TO_ALL, 1L << 40, Integer.MAX_VALUE, "10s");

        assertThat(layouts(shape))
                .hasSizeGreaterThan(11)
                .allSatisfy(layout -> shape.orders()
                        .forEach(order -> assertThat(said(
                                        Console.USUAL_WIDTH,
                                        report -> ShapeDemo.introduce(report, layout, job, 7, order)))
                                .hasSizeGreaterThan(shape.nodes().length())
                                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(COLUMNS))));
    }

    @Test
    void whatFitsIsSaidAsItIs() {
        String line = "   sends to a 127.0.13.1 via lo 127.0.13.3/24 (TCP), same subnet /24, as asked";

        assertThat(said(Console.USUAL_WIDTH, report -> report.say(line + ":"))).containsExactly(line + ":");
        assertThat(said(Console.USUAL_WIDTH, report -> report.say(line + ": TCP")))
                .containsExactly(line.substring(0, line.length() - " asked".length()), "      asked: TCP");
    }

    @Test
    void aTerminalThatIsNarrowerIsNotExceeded() {
        assertThat(said(40, report -> report.say("-- cable ab1 (10.78.11.0/24) is cut: a's interface is down")))
                .containsExactly("-- cable ab1 (10.78.11.0/24) is cut:", "   a's interface is down");
    }
}
