package trigon.policy.elf;

/**
 * A file that is no object of policies: names the file, the section, the offset in it, what is wrong, and what to do.
 */
public final class ObjectException extends Exception {

    private static final long serialVersionUID = 1;

    ObjectException(String file, String section, long offset, String what, String remedy) {
        super("%s: section %s, offset %d: %s; %s".formatted(file, section, offset, what, remedy));
    }
}
