package trigon.tools.demo;

/** Lines of the plugin's log as a demo shows them. */
final class DemoText {

    private DemoText() {}

    /** Without why a path is lost: whoever watches has cut it. */
    static String plain(String line) {
        return line.replaceAll("(path to . down): .*(; failing over)", "$1$2")
                .replaceAll("(after [0-9]+ ms): .*(; [0-9]+ messages)", "$1$2");
    }
}
