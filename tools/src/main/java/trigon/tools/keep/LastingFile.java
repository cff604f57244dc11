package trigon.tools.keep;

/**
 * A file that keeps a change after a restart.
 *
 * @param path on the node
 * @param mode as chmod(1) takes it; {@value #LINK} for a symbolic link
 * @param text its content, or what the link leads to
 */
public record LastingFile(String path, String mode, String text) {

    static final String LINK = "link";

    /** Tells whether it is a symbolic link. */
    public boolean isLink() {
        return mode.equals(LINK);
    }

    /** Name without folders. */
    public String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Path of the folder that has it. */
    public String folder() {
        return path.substring(0, path.lastIndexOf('/'));
    }
}
