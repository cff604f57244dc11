package trigon.verbs.ffm.call;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.NoSuchElementException;
import java.util.Optional;
import trigon.system.NativeFunction;

/** The functions of libibverbs by their names. Thread-safe; initialising this class loads the library. */
final class VerbsLibrary {

    private static final String SONAME = "libibverbs.so.1";
    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(SONAME, Arena.global());

    private VerbsLibrary() {}

    /** A function that each library has which Trigon takes. */
    static NativeFunction function(String name) {
        return find(name).orElseThrow(() -> new NoSuchElementException(SONAME + " has no " + name));
    }

    /** A function that only newer libraries have. */
    static Optional<NativeFunction> find(String name) {
        return NativeFunction.find(LIBRARY, name);
    }
}
