package org.example.text;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** A small library; every method does its work {@link #ROUNDS} times, so that a slower version is one number away. */
public final class Text {
    /** 100; a version that is p percent slower has 100 + p. */
    public static final int ROUNDS = 100;

    private Text() {}

    /** Keeps a processor busy: no memory beyond the first-level cache. */
    public static long hash(byte[] bytes) {
        long hash = 0xcbf29ce484222325L;
        for (int round = 0; round < ROUNDS; round++) {
            for (byte b : bytes) {
                hash = (hash ^ b) * 0x100000001b3L;
            }
        }
        return hash;
    }

    /** Branches that are hard to predict. */
    public static int sort(int[] numbers, int[] copy) {
        int sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            System.arraycopy(numbers, 0, copy, 0, numbers.length);
            Arrays.sort(copy);
            sum += copy[round % copy.length];
        }
        return sum;
    }

    /** Allocates and follows references. */
    public static int words(String[] words) {
        int distinct = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Map<String, Integer> counts = new HashMap<>();
            for (String word : words) {
                counts.merge(word, 1, Integer::sum);
            }
            distinct += counts.size();
        }
        return distinct;
    }

    /** Allocates and copies. */
    public static int join(String[] words) {
        int length = 0;
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder builder = new StringBuilder();
            for (String word : words) {
                builder.append(word).append(' ');
            }
            length += builder.toString().length();
        }
        return length;
    }
}
