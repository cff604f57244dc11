package trigon.policy.elf;

/** Where in a source file an instruction comes from. */
public record SourceLine(String file, int line, String text) {

    @Override
    public String toString() {
        return "%s:%d: %s".formatted(file, line, text.strip());
    }
}
