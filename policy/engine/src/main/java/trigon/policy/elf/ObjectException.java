package trigon.policy.elf;

/**
 * A file that is no object of policies: names the file, the section, the offset in it, what is wrong, and what to do.
 */
public final class ObjectException extends Exception {

    private static final long serialVersionUID = 1;

    private final String section;
    private final long offset;

    ObjectException(String file, String section, long offset, String what, String remedy) {
        super("%s: section %s, offset %d: %s; %s".formatted(file, section, offset, what, remedy));
        this.section = section;
        this.offset = offset;
    }

    /** Name of the section, or "(file)". */
    public String section() {
        return section;
    }

    /** In bytes, from the start of the section. */
    public long offset() {
        return offset;
    }
}
