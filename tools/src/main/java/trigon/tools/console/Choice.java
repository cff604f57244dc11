package trigon.tools.console;

import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converter of an option's value to one of an enum, by its {@code toString}. */
public abstract class Choice<E extends Enum<E>> implements ITypeConverter<E> {

    private final List<E> values;

    protected Choice(E[] values) {
        this.values = List.of(values);
    }

    @Override
    public E convert(String typed) {
        return values.stream()
                .filter(value -> value.toString().equals(typed))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + typed + "' must be one of "
                        + values.stream().map(Object::toString).collect(Collectors.joining(", "))));
    }
}
