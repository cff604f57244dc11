package trigon.cluster.probe;

import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Closes a socket that is still in use when its time is over, so that whoever blocks on it goes on. */
final class Deadline implements AutoCloseable {

    private final CountDownLatch done = new CountDownLatch(1);

    Deadline(Socket socket, long millis) {
        Thread.ofVirtual().start(() -> {
            try {
                if (!done.await(millis, TimeUnit.MILLISECONDS)) {
                    socket.close();
                }
            } catch (IOException | InterruptedException _) {
                // closed already
            }
        });
    }

    @Override
    public void close() {
        done.countDown();
    }
}
