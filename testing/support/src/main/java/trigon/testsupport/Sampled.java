package trigon.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * Rows of arguments, of which a run takes some: one, drawn by {@link Seed}, and all with {@code -Dtrigon.sampled=all},
 * which the Maven profile "thorough" sets. For parameterized tests that start processes.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(SampledRows.class)
public @interface Sampled {

    /** The rows, each with its arguments between commas. */
    String[] value();
}
