package pagewise;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Reads a request: key=value lines. Anything wrong ends the worker with one sentence and status 2. */
final class Request {
    static final class Cell {
        final int number, line;
        Declared declared;
        Method method;
        final Map<String, String> parameters = new LinkedHashMap<>();
        boolean ended;
        long leastNs = Long.MAX_VALUE; // its shortest turn so far

        Cell(int number, int line) {
            this.number = number;
            this.line = line;
        }
    }

    record Round(int number, int[] cells) {
    }

    String experiment, rendezvous, directory = "/tmp", name = "pagewise-by-hand";
    long seed;
    char role;
    boolean hardwareCounters, traceMarks;
    final List<Cell> cells = new ArrayList<>();
    final List<Round> rounds = new ArrayList<>();
    private final List<Declared> known;

    Request(byte[] text, List<Declared> known) throws IOException {
        this.known = known;
        String whole;
        try {
            whole = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
        } catch (CharacterCodingException e) {
            throw new BadRequest(1, "the request is not UTF-8");
        }
        if (whole.indexOf('\0') >= 0)
            throw new BadRequest(1, "the request contains a zero byte");
        int number = 0;
        boolean first = true;
        for (String line : whole.split("\n", -1)) {
            number++;
            if (line.isEmpty() || line.startsWith("#"))
                continue;
            if (first && !line.startsWith("protocol="))
                throw new BadRequest(number, "a request begins with protocol=1");
            first = false;
            take(number, line);
        }
        if (first)
            throw new BadRequest(1, "the request is empty");
        if (cells.isEmpty() || rounds.isEmpty())
            throw new BadRequest(number, "a request needs at least one cell and one round");
        for (Cell cell : cells)
            requireDeclaredKeys(cell);
    }

    private void take(int line, String text) {
        int equals = text.indexOf('=');
        if (equals < 1)
            throw new BadRequest(line, "\"" + text + "\" is not key=value");
        String key = text.substring(0, equals), value = text.substring(equals + 1);
        if (key.equals("protocol")) {
            if (!value.equals("1"))
                throw new BadRequest(line, "protocol=" + value + " is not spoken here; this worker speaks 1");
        } else if (key.equals("cell")) {
            if (experiment == null)
                throw new BadRequest(line, "cell before experiment");
            if (number(line, key, value) != cells.size())
                throw new BadRequest(line,
                    "cell=" + value + ", but cells are numbered in order and " + cells.size() + " is next");
            cells.add(new Cell(cells.size(), line));
        } else if (key.equals("round") || key.equals("warmup")) {
            addRound(line, key, value);
        } else if (!rounds.isEmpty()) {
            throw new BadRequest(line, "key \"" + key + "\" after the rounds");
        } else if (!cells.isEmpty()) {
            cellKey(line, cells.get(cells.size() - 1), key, value);
        } else {
            launchKey(line, key, value);
        }
    }

    private void launchKey(int line, String key, String value) {
        switch (key) {
            case "experiment" -> experiment = value;
            case "launch" -> number(line, key, value);
            case "seed" -> seed = number(line, key, value);
            case "role" -> {
                if (!value.equals("a") && !value.equals("b"))
                    throw new BadRequest(line, "role=" + value + " is neither a nor b");
                role = value.charAt(0);
            }
            case "rendezvous" -> rendezvous = value;
            case "directory" -> directory = value;
            case "name" -> name = value;
            case "trace_marks" -> traceMarks = yes(line, key, value);
            case "hardware_counters" -> hardwareCounters = yes(line, key, value);
            default -> throw new BadRequest(line, "unknown key \"" + key + "\"");
        }
    }

    private void cellKey(int line, Cell cell, String key, String value) {
        if (key.equals("method")) {
            if (cell.declared != null)
                throw new BadRequest(line, "cell " + cell.number + " has two methods");
            cell.declared = known.stream().filter(m -> m.experiment.equals(experiment) && m.name.equals(value)).findFirst()
                .orElseThrow(() -> new BadRequest(line,
                    "unknown method \"" + value + "\" of experiment \"" + experiment + "\""));
            return;
        }
        if (cell.declared == null)
            throw new BadRequest(line, "cell " + cell.number + " names \"" + key + "\" before its method");
        String kind = cell.declared.kindOf(key);
        if (kind == null)
            throw new BadRequest(line, "unknown key \"" + key + "\" for method " + experiment + "/" + cell.declared.name
                + " (it takes " + cell.declared.attributes.get("keys") + ")");
        if (kind.equals("size") || kind.equals("count") || kind.equals("number")) {
            if (number(line, key, value) == 0 && !kind.equals("number"))
                throw new BadRequest(line, key + "=0 leaves nothing to measure");
        } else if (kind.equals("text") ? value.isEmpty() : Stream.of(kind.split("\\|")).noneMatch(word -> isOf(word, value))) {
            throw new BadRequest(line, kind.equals("text") ? key + " is empty" : key + "=" + value + " is not one of " + kind);
        }
        if (cell.parameters.putIfAbsent(key, value) != null)
            throw new BadRequest(line, "key \"" + key + "\" stands twice in cell " + cell.number);
    }

    /** True if a choice's word stands for a value: for itself, or with the number that its <code>&lt;time&gt;</code> is. */
    private static boolean isOf(String word, String value) {
        int lead = word.indexOf('<');
        return lead < 0 ? word.equals(value)
            : value.length() > lead && value.startsWith(word.substring(0, lead)) && Character.isDigit(value.charAt(lead));
    }

    private void addRound(int line, String key, String value) {
        int space = value.indexOf(' ');
        if (space < 0)
            throw new BadRequest(line, "a round is written round=NUMBER CELL,CELL,…");
        long index = number(line, key, value.substring(0, space));
        if (key.equals("warmup") && index == 0)
            throw new BadRequest(line, "warm-up rounds count from 1");
        String[] words = value.substring(space + 1).split(",");
        int[] turn = new int[words.length];
        for (int i = 0; i < words.length; i++) {
            long cell = number(line, "cell", words[i]);
            if (Long.compareUnsigned(cell, cells.size()) >= 0)
                throw new BadRequest(line, "there is no cell " + words[i]);
            turn[i] = (int) cell;
        }
        rounds.add(new Round((int) (key.equals("warmup") ? -index : index), turn));
    }

    private void requireDeclaredKeys(Cell cell) {
        if (cell.declared == null)
            throw new BadRequest(cell.line, "cell " + cell.number + " has no method");
        for (String declared : cell.declared.attributes.get("keys").split(" ")) {
            String key = declared.isEmpty() ? null : declared.substring(0, declared.indexOf(':'));
            if (key != null && !cell.parameters.containsKey(key))
                throw new BadRequest(cell.line, "cell " + cell.number + " lacks the key \"" + key + "\" of method "
                    + experiment + "/" + cell.declared.name);
        }
    }

    private static long number(int line, String key, String value) {
        if (value.isEmpty() || !Character.isDigit(value.charAt(0)))
            throw new BadRequest(line, key + "=" + value + " is not a whole number");
        try {
            return Long.parseUnsignedLong(value);
        } catch (NumberFormatException e) {
            throw new BadRequest(line, key + "=" + value + " is not a whole number below 2^64");
        }
    }

    private static boolean yes(int line, String key, String value) {
        if (!value.equals("yes") && !value.equals("no"))
            throw new BadRequest(line, key + "=" + value + " is neither yes nor no");
        return value.equals("yes");
    }
}
