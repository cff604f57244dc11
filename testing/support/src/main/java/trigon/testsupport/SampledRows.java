package trigon.testsupport;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Arguments of {@link Sampled}. */
final class SampledRows implements ArgumentsProvider, AnnotationConsumer<Sampled> {

    private List<String> rows = List.of();

    @Override
    public void accept(Sampled sampled) {
        rows = List.of(sampled.value());
    }

    @Override
    public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
        return Samples.of(rows).stream().map(row -> Arguments.of((Object[]) row.split(" *, *", -1)));
    }
}
