package trigon.handshake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.ConnectionId;
import trigon.testsupport.Await;

/** Closing leaves neither threads nor file descriptors, whatever was under way. */
class ResourceTest {

    @Test
    void leavesNoThreadAndNoFileDescriptor() throws Exception {
        useAndClose(); // loads classes, and what they open once
        int descriptors = openDescriptors().size();

        for (int i = 0; i < 10; i++) {
            useAndClose();
        }

        Await.until("all file descriptors are closed", () -> openDescriptors().size() <= descriptors);
        Await.until(
                "all threads have ended",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .noneMatch(name -> name.startsWith("trigon-handshake")
                                || name.contains("nioEventLoop")
                                || name.contains("globalEventExecutor")));
    }

    private static void useAndClose() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        try (Node server = new Node("127.0.0.1", Node.LONG);
                Node client = new Node("127.0.0.2", Node.LONG)) {
            for (int i = 0; i < 5; i++) {
                strangers.add(new Socket(server.address(), server.listeningAt().getPort()));
            }
            ConnectionId done = ConnectionId.random();
            Node.Listener listener = server.listen(done);
            OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(done));
            listener.next().answer().complete(server.answer());
            outgoing.answer().get(60, TimeUnit.SECONDS);
            outgoing.sendReady(1).get(60, TimeUnit.SECONDS);

            ConnectionId underWay = ConnectionId.random();
            Node.Listener other = server.listen(underWay);
            client.connect(server.listeningAt(), client.offer(underWay));
            other.next();
            client.connect(server.listeningAt(), client.offer(ConnectionId.random()));
        }
        for (Socket stranger : strangers) {
            stranger.close();
        }
    }

    /** What is open, by what it is: sockets, event polls and pipes are what could be left. */
    private static List<String> openDescriptors() {
        List<String> open = new ArrayList<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                try {
                    open.add(Files.readSymbolicLink(link).toString());
                } catch (NoSuchFileException e) {
                    // closed since: the one of the listing itself, for example
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        open.removeIf(name -> name.startsWith("/"));
        return open;
    }
}
