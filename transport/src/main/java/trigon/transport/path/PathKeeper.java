package trigon.transport.path;

/** Looks after a path whose connection may go on over another one. Any thread; it returns at once. */
public interface PathKeeper {

    /** Of paths whose connections end with them. */
    PathKeeper NONE = new PathKeeper() {
        @Override
        public boolean takes(PathLoss loss) {
            return false;
        }

        @Override
        public void doubts() {
            // its lifeline will tell
        }
    };

    /** Whether it takes care of what would lose the path, which is not lost then. Called without a lock. */
    boolean takes(PathLoss loss);

    /** Nothing is heard from the peer, or the link has gone down; again and again. */
    void doubts();
}
